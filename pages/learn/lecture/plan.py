"""The plan of a lecture: its lessons in order, with minutes, speaker's notes and questions; its link holds all."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import streamlit as st

from pages.learn.kit import Lesson
from pages.learn.lecture.guesses import ROOM
from pages.learn.lecture.handout import handout
from pages.learn.lecture.records import LessonRecord
from pages.learn.overview import PATH
from pages.learn.screen import SCREEN, screen
from pages.shell.controls import warn_of_link
from pages.shell.links import control_value, in_link, reset_on_history
from pages.shell.presentation import KEY as PRESENTATION_KEY
from pages.shell.state import SessionKey, drop, drop_all

LECTURE = "lecture"
"""Link value of the plan instead of a lesson, and the link parameter of the lessons."""
MAX_LESSONS, MAX_NOTE = 12, 300
"""Maximum lessons of a lecture, and letters of a speaker's note."""
CHOSEN = SessionKey[list[str]](LECTURE, [])
"""The control of the lessons."""
LEFT_OUT = f"The link's lecture names lessons that do not exist, or more than {MAX_LESSONS} lessons. They are left out."


@dataclass(kw_only=True)
class HandoutWork:
    """A handout under way: its lessons, and the records of those that have run."""

    lessons: tuple[str, ...]
    records: list[LessonRecord] = field(default_factory=list)


HANDOUT = SessionKey[HandoutWork | None]("lecture_handout", None)


def read_lecture(text: str, lessons: Mapping[str, Lesson]) -> list[str]:
    """Return the keys of a lecture in a link that are lessons, each once, at most `MAX_LESSONS`.

    >>> read_lecture("odds.<b>.odds", {"odds": None})
    ['odds']
    """
    named = dict.fromkeys(text[:1000].split("."))
    return [key for key in named if key in lessons][:MAX_LESSONS]


def lecture_of_link(lessons: Mapping[str, Lesson]) -> list[str]:
    """Return the lessons of the link's lecture; a link that names others gets one sentence."""
    text = st.query_params.get(LECTURE, "")
    keys = read_lecture(text, lessons)
    if ".".join(keys) != text:
        warn_of_link(LECTURE, LEFT_OUT)
    return keys


def lecture_address(keys: Sequence[str], lesson: str = LECTURE, *, presenting: bool = False) -> dict[str, str]:
    """Return the link parameters of a lecture, at one of its lessons or at its plan."""
    return {"lesson": lesson, LECTURE: ".".join(keys)} | ({PRESENTATION_KEY: "1"} if presenting else {})


def neighbouring_lessons(keys: Sequence[str], lesson: str) -> Iterator[tuple[str, str]]:
    """Yield the label and the key of the lessons before and after one of a lecture."""
    place = keys.index(lesson)
    yield from (("← Back", key) for key in keys[max(place - 1, 0) : place])
    yield from ((f"Next ({place + 2} of {len(keys)}) →", key) for key in keys[place + 1 : place + 2])


def show_plan(lessons: Mapping[str, Lesson]) -> None:
    """Draw the choice of lessons, the links to present and to print them, and the plan of each lesson."""
    keys = _choose(lessons)
    minutes = sum(lessons[key].minutes for key in keys)
    if not keys:
        st.info("Choose at least one lesson.")
        return
    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown(f"**{len(keys)} lessons · {minutes} minutes**", width="content")
        present = lecture_address(keys, keys[0], presenting=True)
        st.page_link("learn/page.py", label="Present the lecture", query_params=present, width="content")
        st.button("Make the handout", on_click=HANDOUT.set, args=(HandoutWork(lessons=tuple(keys)),))
        if ROOM.value is not None:
            st.button("End the class guess", on_click=_end_room)
    _handout(lessons, tuple(keys))
    st.caption("*Copy link* keeps the lessons and your notes. Notes are not shown in a presentation or in the handout.")
    before = 0
    for place, key in enumerate(keys):
        _part(lessons[key], place, before)
        before += lessons[key].minutes


def _choose(lessons: Mapping[str, Lesson]) -> list[str]:
    """Draw the control of the lessons and return them in order."""
    reset_on_history(in_link(CHOSEN))
    if not CHOSEN.is_set:
        CHOSEN.value = lecture_of_link(lessons) or list(PATH)
    keys = st.multiselect(
        "Lessons, in this order",
        list(lessons),
        key=CHOSEN,
        format_func=lambda key: lessons[key].question,
        max_selections=MAX_LESSONS,
        persist_state="session",
    )
    if st.query_params.get(LECTURE) != ".".join(keys):
        st.query_params[LECTURE] = ".".join(keys)
    return keys


def _part(lesson: Lesson, place: int, start: int) -> None:
    """Draw one lesson of the plan: when it starts, what it needs, its questions and the speaker's note."""
    with st.expander(f"{start} min · {place + 1}. {lesson.question}"):
        questions = "".join(f"\n{number}. {each}" for number, each in enumerate(lesson.class_questions, 1))
        st.markdown(f"{lesson.minutes} minutes. Before it: {lesson.needs}.\n{questions}")
        note = SessionKey(f"note-{lesson.key}", "")
        if note not in st.query_params:
            note.value = control_value(note, "")
        elif len(st.query_params[note]) > MAX_NOTE:
            warn_of_link(note, f"A note in the link has more than {MAX_NOTE} letters. It is cut.")
        st.text_area("Your speaker's notes", key=in_link(note), bind="query-params", max_chars=MAX_NOTE)
        if place:
            st.button("Move up", key=f"lecture_up_{lesson.key}", on_click=_move_up, args=(place,))


def _move_up(place: int) -> None:
    keys = list(CHOSEN.value)
    keys[place - 1 : place + 1] = reversed(keys[place - 1 : place + 1])
    CHOSEN.value = keys


def _end_room() -> None:
    if room := ROOM.pop():
        room.end()


def _handout(lessons: Mapping[str, Lesson], keys: tuple[str, ...]) -> None:
    """Run one lesson of a handout under way, then the page again; offer the file when all have run."""
    work = HANDOUT.value
    if work is None or work.lessons != keys:
        HANDOUT.value = None
        return
    done = len(work.records)
    if done < len(keys):
        lesson = lessons[keys[done]]
        st.progress(done / len(keys), text=f"Running lesson {done + 1} of {len(keys)}. Change the lessons to stop it.")
        work.records.append(_record(lesson))
        st.rerun()
    st.download_button(
        "Download the handout (HTML)",
        data=handout([(lessons[key], record) for key, record in zip(keys, work.records, strict=True)]),
        file_name="lecture.html",
        mime="text/html",
        on_click="ignore",
        help="Questions first, results on the last pages. It opens without a network.",
    )


def _record(lesson: Lesson) -> LessonRecord:
    """Run a lesson out of sight at its initial settings, and return what it says and draws."""
    drop_all(f"{lesson.key}-")
    drop("limits-seed")
    assert lesson.show is not None
    with st.container(key="lecture_recording"), screen(LessonRecord()):
        lesson.show()
    record = SCREEN.get().record
    assert record is not None
    return record
