"""A lecture without a browser: its link, its plan, the walk through its lessons, and guesses of phones."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from pages.learn.lecture import plan, rooms
from pages.learn.lecture.rooms import NO_ROOM, OVER
from pages.learn.overview import PATH
from pages.learn.view import LESSONS
from tests.pages.learn.lecture.test_handouts import lecture
from tests.pages.learn.test_page import opened, texts

FIVE = ("odds", "audit", "margins", "attack-me", "median")


def press(app: AppTest, label: str) -> AppTest:
    app.button[[each.label for each in app.button].index(label)].click().run()
    assert not app.exception, [each.message for each in app.exception]
    return app


def links(app: AppTest) -> dict[str, str]:
    """Queries of the page's links, by label."""
    return {each.proto.label: each.proto.query_string for each in app.get("page_link")}


def test_the_link_has_the_lessons_in_order_with_minutes_questions_and_notes() -> None:
    app = lecture(*FIVE, **{"note-odds": "Ask for a show of hands."})
    assert app.multiselect(key="lecture").value == list(FIVE) and not app.warning
    minutes = [LESSONS[key].minutes for key in FIVE]
    assert f"5 lessons · {sum(minutes)} minutes" in texts(app)
    assert [each.label for each in app.expander][1:3] == [
        f"{minutes[0]} min · 2. {LESSONS['audit'].question}",
        f"{minutes[0] + minutes[1]} min · 3. {LESSONS['margins'].question}",
    ]
    assert all(question in texts(app) for key in FIVE for question in LESSONS[key].class_questions)
    assert app.text_area(key="note-odds").value == "Ask for a show of hands."
    assert links(app)["Present the lecture"] == f"lesson=odds&lecture={'.'.join(FIVE)}&present=1"


def test_lessons_are_chosen_and_moved_and_the_link_follows() -> None:
    app = lecture("odds", "audit")
    app.multiselect(key="lecture").set_value(["odds", "audit", "vc"]).run()
    assert app.query_params["lecture"] == "odds.audit.vc"
    app.button(key="lecture_up_vc").click().run()
    assert not app.exception and app.query_params["lecture"] == "odds.vc.audit"
    app.text_area(key="note-vc").set_value("Slowly.").run()
    assert app.query_params["note-vc"] == "Slowly."
    app.multiselect(key="lecture").set_value([]).run()
    assert not app.exception and "Choose at least one lesson." in texts(app)


def test_a_lecture_without_lessons_opens_with_the_short_path() -> None:
    assert lecture().multiselect(key="lecture").value == list(PATH)


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("odds.<script>alert(1)</script>.audit", ["odds", "audit"]),
        ("odds.odds.../../etc/passwd", ["odds"]),
        (".".join([*LESSONS]), list(LESSONS)[:12]),
        ("x" * 100_000, list(PATH)),
        ("odds,audit", list(PATH)),
        ("printed.teachers.lecture.odds", ["odds"]),
    ],
    ids=["script", "twice", "many", "long", "comma", "pages"],
)
def test_a_hostile_link_gets_one_sentence_and_the_lessons_that_exist(text: str, kept: list[str]) -> None:
    app = opened(lesson="lecture", lecture=text)
    assert [each.value for each in app.warning] == [plan.LEFT_OUT]
    assert app.multiselect(key="lecture").value == kept and "script" not in texts(app)
    lesson = opened(lesson="odds", lecture=text)
    assert [each.value for each in lesson.warning] == [plan.LEFT_OUT] and "script" not in str(links(lesson))


def test_a_note_that_is_too_long_gets_one_sentence_and_is_no_markup() -> None:
    app = lecture("odds", **{"note-odds": "<b>" + "n" * 400})
    assert [each.value for each in app.warning] == ["A note in the link has more than 300 letters. It is cut."]
    assert app.text_area(key="note-odds").value == "<b>" + "n" * 297 and "<b>" not in texts(app)


def test_notes_are_on_the_plan_alone() -> None:
    """Not in a presentation, whose code leads phones to the same address, and not in the handout."""
    secret = "SAY-IT-SLOWLY"
    app = lecture("odds", "audit", **{"note-odds": secret})
    assert secret not in str(links(app))
    app.query_params.clear()
    for name, value in {"lesson": "odds", "lecture": "odds.audit", "present": "1"}.items():
        app.query_params[name] = value
    app.run()
    assert not app.exception and secret not in everything(app)
    back = {name: [value] for name, value in plan.lecture_address(["odds", "audit"]).items()}
    app.query_params.clear()
    for name, [value] in back.items():
        app.query_params[name] = value
    app.run()
    assert app.text_area(key="note-odds").value == secret, "and they are there again"


def everything(app: AppTest) -> str:
    """All that this run sent to its browser."""
    found: list[str] = []

    def walk(block: Any) -> None:
        for each in block.children.values():
            found.append(str(each.proto) if hasattr(each, "proto") else "")
            if hasattr(each, "children"):
                walk(each)

    walk(app._tree)
    return "\n".join([*found, texts(app), json.dumps(dict(app.query_params))])


@pytest.mark.parametrize("place", range(5))
def test_a_presented_lesson_leads_to_those_before_and_after_it(place: int) -> None:
    app = opened(lesson=FIVE[place], lecture=".".join(FIVE), present="1")
    found = {label: query for label, query in links(app).items() if label.startswith(("← Back", "Next"))}
    assert len(found) == (place > 0) + (place < 4)
    if place < 4:
        assert found[f"Next ({place + 2} of 5) →"] == f"lesson={FIVE[place + 1]}&lecture={'.'.join(FIVE)}&present=1"
    if place:
        assert f"lesson={FIVE[place - 1]}&" in found["← Back"]


def wall(lesson: str = "odds") -> AppTest:
    """The teacher's session, whose class guess is open."""
    return press(opened(lesson=lesson, lecture="odds.audit.median", present="1"), "Ask the class")


def name_of(app: AppTest) -> str:
    return str(app.session_state["class_room"].name)


def phone(name: str) -> AppTest:
    return opened(room=name)


def show(app: AppTest, lesson: str = "odds") -> AppTest:
    app.toggle(key=f"{lesson}-shown").set_value(True).run()
    assert not app.exception
    return app


def frames(app: AppTest) -> str:
    """What a session is sent, without the names that differ from one session to the next."""
    return re.sub(r"room=[\w-]{16}|\"room\": \"[\w-]{16}|src=\S+|[0-9a-f]{16,}", "", everything(app))


def test_before_the_result_the_wall_and_other_phones_are_sent_the_same_whatever_was_guessed() -> None:
    sent = []
    for values in ((61, 83), (2, 5)):
        teacher = wall()
        phones = [phone(name_of(teacher)) for _ in range(3)]
        for each, value in zip(phones, values, strict=False):
            each.slider[0].set_value(value)
            press(each, "Send my guess")
        sent.append([frames(teacher.run()), frames(phones[2].run())])
        assert "23.2" not in sent[-1][0] and "23.2" not in sent[-1][1]
        shown = frames(show(teacher))
        sent.append([shown, frames(phones[2].run())])
    assert sent[0] == sent[2] and sent[1][1] == sent[3][1]
    assert sent[1][0] != sent[3][0] and "23.2" in sent[1][0], "the control: the result brings both"


def test_two_phones_guess_and_the_wall_shows_their_number_and_then_their_guesses_beside_the_result() -> None:
    teacher = wall()
    assert f"room={name_of(teacher)}" in everything(teacher) and "**0** guesses are in" in texts(teacher)
    phones = [phone(name_of(teacher)) for _ in range(2)]
    for each, value in zip(phones, (61, 83), strict=True):
        assert "how likely can the attacker think it, at most?" in texts(each)
        assert len(each.slider) == 1 and len(each.button) == 1
        each.slider[0].set_value(value)
        press(each, "Send my guess")
        assert "Your guess is in." in texts(each)
    teacher.run()
    assert "**2** guesses are in" in texts(teacher) and "dpscope-class" not in everything(teacher)
    phones[0].slider[0].set_value(40)
    press(phones[0], "Change my guess")
    assert teacher.session_state["class_room"].values() == [40, 83]
    shown = everything(show(teacher))
    assert "2 guesses of the class; the middle one is 61.5. The lesson shows 23.2." in shown
    assert f"room={name_of(teacher)}" not in shown
    phones[1].run()
    assert OVER in texts(phones[1]) + phones[1].info[0].value and not phones[1].button
    assert teacher.session_state["class_room"].values() == [40, 83]


def test_a_phone_s_session_can_neither_reveal_nor_end_the_room() -> None:
    teacher = wall()
    name = name_of(teacher)
    sneak = phone(name)
    sneak.slider[0].set_value(30)
    press(sneak, "Send my guess")
    for link in (
        {"lesson": "odds", "lecture": "odds.audit.median", "present": "1", "odds_shown": "true", "room": name},
        {"lesson": "odds", "lecture": "odds.audit.median", "present": "1", "odds_shown": "true"},
        {"lesson": "lecture", "lecture": "odds", "class_room": name},
    ):
        other = opened(**link)
        assert "guesses of the class" not in everything(other)
        assert "End the class guess" not in [each.label for each in other.button]
    assert rooms.question_of(name)[2] is False
    teacher.run()
    assert "**1** guess is in" in texts(teacher)


def test_the_question_follows_the_lecture_and_answers_in_words_are_guessed_too() -> None:
    teacher = wall("audit")
    student = phone(name_of(teacher))
    assert not student.slider and student.radio[0].options == ["Its claim is true", "Its claim is false"]
    press(student, "Send my guess")
    assert rooms.NO_GUESS in texts(student), "nothing was chosen"
    student.radio[0].set_value(1)
    press(student, "Send my guess" if "Send my guess" in [each.label for each in student.button] else "Change my guess")
    assert teacher.session_state["class_room"].values() == [1]
    for name, value in {"lesson": "median", "lecture": "odds.audit.median", "present": "1"}.items():
        teacher.query_params[name] = value
    teacher.run()
    assert not teacher.exception and "**0** guesses are in" in texts(teacher)
    student.run()
    assert student.select_slider[0].value == 1000 and "Your guess is in." not in texts(student)


def test_settings_that_move_after_the_result_keep_the_guesses() -> None:
    teacher = wall()
    student = phone(name_of(teacher))
    student.slider[0].set_value(40)
    press(student, "Send my guess")
    show(teacher)
    teacher.number_input(key="odds-epsilon").set_value(2.0).run()
    assert not teacher.exception and "1 guesses of the class" in everything(teacher)
    assert teacher.session_state["class_room"].values() == [40]


@pytest.mark.parametrize("name", ["", "x", "<script>", "a" * 5000])
def test_a_room_that_is_not_there_gets_one_sentence(name: str) -> None:
    app = opened(room=name or " ")
    assert [each.value for each in app.error] == [NO_ROOM] and not app.button and not app.slider


def test_the_teacher_ends_the_room() -> None:
    teacher = wall()
    name = name_of(teacher)
    del teacher.query_params["present"]
    teacher.query_params["lesson"] = "lecture"
    press(teacher.run(), "End the class guess")
    assert [each.value for each in phone(name).error] == [NO_ROOM]


def test_a_full_server_is_said_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rooms, "MAX_ROOMS", 0)
    app = wall_refused = press(opened(lesson="odds", lecture="odds", present="1"), "Ask the class")
    assert [each.value for each in wall_refused.toast] == [rooms.NO_ROOM_LEFT] and "class_room" not in app.session_state
