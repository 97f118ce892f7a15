"""The verb in a name, gestures, polls: whole words only, and a doubt tells nothing."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from refetch.effects import names


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("get_user", ("get", "user")),
        ("get-user", ("get", "user")),
        ("getUser", ("get", "user")),
        ("GetWeather", ("get", "weather")),
        ("LIST_PULL_REQUESTS", ("list", "pull", "requests")),
        ("getURLContents", ("get", "url", "contents")),
        ("HTTPGet", ("http", "get")),
        ("get2FACode", ("get", "2", "fa", "code")),
        ("mcp__linear__get_issue", ("get", "issue")),
        ("orders.get_order", ("get", "order")),
        ("shop/getOrder", ("get", "order")),
        ("functions.get_user:0", ("get", "user")),
        ("", ()),
        ("___", ()),
    ],
)
def test_words(name: str, words: tuple[str, ...]) -> None:
    assert names.words_of(name) == words


@pytest.mark.parametrize(
    ("name", "effect"),
    [
        *((f"{verb}_thing", "read") for verb in sorted(names.READ_VERBS)),
        *((f"{verb}_thing", "pure") for verb in sorted(names.PURE_VERBS)),
        *((f"{verb}_thing", "write") for verb in sorted(names.WRITE_VERBS)),
        ("isOpen", "read"),
        ("can_send_mms", "read"),
        ("count", "read"),
        ("GetTime", "read"),
        ("mcp__shop__cancel_order", "write"),
    ],
)
def test_first_word_decides(name: str, effect: str) -> None:
    assert names.effect_of_name(name) == effect


@pytest.mark.parametrize(
    "name",
    [
        # no verb of the list, or a verb only inside another word
        "issue_refund",
        "checkout_cart",
        "listen",
        "getaway",
        "settle_claim",
        "setup_env",
        "bookmark_page",
        "calculator",
        "runner",
        "island_info",
        "cancellation",
        "showcase",
        "returns_policy",
        # the verb is not the first word
        "file_system_show",
        "github_get_issue",
        "please_get_user",
        "user_update",
        "slack_post_message",
        # a look joined to something else
        "get_or_create_user",
        "find_and_replace",
        "fetch_and_delete",
        "search_or_add",
        "read_and_send",
        # check, but no look
        "check_in_passenger",
        "checkOutBook",
        "check-off-item",
        # think, opaque by any reading
        "think",
        "execute_sql",
        "bash",
        "query_order",
        "",
        "42",
        "日本語",
    ],
)
def test_no_effect_from_the_name(name: str) -> None:
    assert names.effect_of_name(name) is None


@pytest.mark.parametrize(
    "name",
    [
        "press",
        "browser_click",
        "web_browser_click",
        "scroll_down",
        "type_text",
        "wait_for",
        "undo",
        "redo",
        "get_next_page",
        "go_back",
        "step",
        "roll_dice",
        "generate_image",
        "sample",
        "spawn_worker",
        "Task",
        "run_agent",
        "delegate_task",
        "execute_task",
        "browser_press_key",
        "mcp__b__browser_click",
    ],
)
def test_gestures_are_repeatable(name: str) -> None:
    assert names.is_repeatable_name(name)


@pytest.mark.parametrize(
    "name",
    [
        "get_user",
        "get_task",
        "create_task",
        "list_agents",
        "get_agent",
        "update_step",
        "get_document_type",
        "tasks",
        "regenerate",
        "background",
        "clicker",
        "backup_db",
        "stepper",
        "resample",
        "nextcloud_put",
        "Read",
        "transfer_to_human_agents",
        "",
        "awaiting",
    ],
)
def test_other_names_are_not_repeatable(name: str) -> None:
    assert not names.is_repeatable_name(name)


@pytest.mark.parametrize(
    ("name", "action"),
    [
        *((f"get_{word}", None) for word in sorted(names.WAITING_WORDS)),
        ("getFlightStatus", None),
        ("GetTime", None),
        ("get_current_time", None),
        ("get_logs", None),
        ("check_network_mode_preference", None),
        ("process", "log"),
        ("process", "poll"),
        ("jobs", "get_status"),
        ("mcp__ci__job-status", None),
    ],
)
def test_polls(name: str, action: str | None) -> None:
    assert names.is_poll_name(name, action)


@pytest.mark.parametrize(
    ("name", "action"),
    [
        ("get_user", None),
        ("get_estate", None),
        ("list_states", None),
        ("read_catalog", None),
        ("get_timeline", None),
        ("get_knowledge", None),
        ("currently", None),
        ("checkout", None),
        ("get_statement", None),
        ("login", None),
        ("timeout_config", None),
        ("process", "write"),
        ("process", "catalog"),
        ("bash", "git status"),
        ("bash", "kubectl get pods --watch; echo status"),
        ("bash", ""),
        ("bash", "status " * 20),
        ("", None),
    ],
)
def test_no_polls(name: str, action: str | None) -> None:
    assert not names.is_poll_name(name, action)


@pytest.mark.parametrize("name", ["wait", "sleep", "browser_wait_for", "waitForNavigation"])
def test_waits(name: str) -> None:
    assert names.is_waiting_name(name)


@pytest.mark.parametrize("name", ["await_result", "waiter_list", "get_user", "asleep", ""])
def test_no_waits(name: str) -> None:
    assert not names.is_waiting_name(name)


@pytest.mark.parametrize(
    ("name", "toggles"),
    [
        ("toggle_data", True),
        ("mcp__phone__toggleAirplaneMode", True),
        ("get_toggle", False),
        ("set_toggle", False),
        ("toggled", False),
        ("", False),
    ],
)
def test_toggling(name: str, toggles: bool) -> None:
    assert names.is_toggling_name(name) is toggles


@pytest.mark.parametrize(
    "name", ["create_doc", "addItem", "send_email", "post_message", "book_table", "NewIssue"]
)
def test_creating(name: str) -> None:
    assert names.is_creating_name(name)


@pytest.mark.parametrize(
    "name",
    [
        "update_doc",
        "delete_doc",
        "set_cell",
        "toggle_data",
        "cancel_booking",
        "recreate",
        "address",
        "get_new_items",
        "posture",
        "undo",
        "return_items",
        "",
    ],
)
def test_not_creating(name: str) -> None:
    assert not names.is_creating_name(name)


@pytest.mark.parametrize(
    ("args", "action"),
    [
        ({"action": "log", "id": 1}, "log"),
        ({"op": "read"}, "read"),
        ({"method": "get_status"}, "get_status"),
        ({"mode": "fast", "action": "poll"}, "poll"),
        ({"command": "status"}, "status"),
        ({"command": "git status"}, None),
        ({"action": 5}, None),
        ({"action": None}, None),
        ({"action": ["log"]}, None),
        ({"status": "open"}, None),
        ({}, None),
    ],
)
def test_action_of(args: dict[str, object], action: str | None) -> None:
    assert names.action_of(args) == action


@given(st.text(max_size=60), st.none() | st.text(max_size=60))
def test_any_name_is_answered(name: str, action: str | None) -> None:
    effect = names.effect_of_name(name)
    assert effect in ("read", "pure", "write", None)
    words = names.words_of(name)
    assert effect is None or words[0] in names.READ_VERBS | names.PURE_VERBS | names.WRITE_VERBS
    assert isinstance(names.is_poll_name(name, action), bool)
    assert not names.is_repeatable_name(name) or names.GESTURES & set(words)


@given(
    st.sampled_from(sorted(names.READ_VERBS | names.WRITE_VERBS)),
    st.lists(st.sampled_from(["user", "order", "item", "flight"]), min_size=1, max_size=3),
)
def test_spelling_styles_agree(verb: str, nouns: list[str]) -> None:
    words = [verb, *nouns]
    capital = "".join(w.capitalize() for w in words)
    styles = ["_".join(words), "-".join(words), "_".join(words).upper(), capital]
    styles += [capital[0].lower() + capital[1:], f"mcp__x__{'_'.join(words)}"]
    assert {names.effect_of_name(style) for style in styles} == {names.effect_of_name(styles[0])}
    assert names.effect_of_name(styles[0]) is not None


@pytest.mark.parametrize(
    ("name", "repeatable"),
    [
        ("pop_message", True), ("dequeue", True), ("claim_job", True), ("receive_messages", True),
        ("reserve_seat", True), ("get_random_number", True), ("draw_card", True),
        ("get_claim", False), ("list_leases", False), ("get_popular", False), ("randomize", False),
        ("get_user", False),
    ],
)  # fmt: skip
def test_what_takes_another_one_each_time_may_be_repeated(name: str, repeatable: bool) -> None:
    assert names.is_repeatable_name(name) is repeatable


@pytest.mark.parametrize(
    ("name", "moving"),
    [
        ("list_unread_emails", True), ("get_screenshot", True), ("get_live_scores", True),
        ("list_incoming_orders", True), ("get_delivery", False), ("alive", False),
    ],
)  # fmt: skip
def test_what_moves_by_itself_is_a_poll(name: str, moving: bool) -> None:
    assert names.is_poll_name(name) is moving
