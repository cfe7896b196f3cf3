"""``python -m dpcore`` lists the catalogue: each mechanism's key, its name, its parameters, and what it answers."""

from dpcore.mechanisms import catalogue

for each in catalogue():
    classes = ", ".join(queries.__name__ for queries in each.queries)
    print(f"{each.key:<30} {each.title} ({', '.join(each.controls())}): {classes}")
