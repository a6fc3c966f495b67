"""Conversations of pytest-lsp, a client that is not ours, with the language server: one for each main capability."""

import os
import pathlib

import pytest
import pytest_lsp
from lsprotocol import types
from pytest_lsp import ClientServerConfig, LanguageClient, client_capabilities

HOME = """version: 1
include: room.yaml
buttons:
  kitchen: BA00-H00001
  sofa: BA00-H00002
tests:
  - name: a click
    steps:
      - event: {button: kitchen, event: click}
      - expect: [{log: clicked}]
"""
ROOM = """rules:
  - actions: {log: clicked}
    # What starts it.
    triggers: {button: kitchen, event: click}
    id: lamp
"""
SETTINGS = "rules: home.yaml\nmqtt: {broker: none, password: hunter2}\n"
SECRETS = "lamp_token: x\n"


@pytest.fixture
def house(tmp_path):
    files = {"home.yaml": HOME, "room.yaml": ROOM, "tryck.yaml": SETTINGS, "secrets.yaml": SECRETS}
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    (tmp_path / "secrets.yaml").chmod(0o600)
    return tmp_path


@pytest_lsp.fixture(config=ClientServerConfig(server_command=[os.environ["TRYCK"], "language-server"]))
async def client(lsp_client: LanguageClient):
    # Requests of the server, which every editor answers.
    @lsp_client.feature(types.CLIENT_REGISTER_CAPABILITY)
    @lsp_client.feature(types.WORKSPACE_CODE_LENS_REFRESH)
    def accept(*_):
        return None

    parameters = types.InitializeParams(capabilities=client_capabilities("visual-studio-code"))
    await lsp_client.initialize_session(parameters)
    yield
    await lsp_client.shutdown_session()


def uri(path: pathlib.Path) -> str:
    return path.as_uri()


async def opened(client: LanguageClient, path: pathlib.Path, text: str | None = None):
    """Opens a file and waits for the answer to a request, so that it was checked."""
    client.text_document_did_open(
        types.DidOpenTextDocumentParams(
            types.TextDocumentItem(uri(path), "yaml", 1, path.read_text() if text is None else text)
        )
    )
    document = types.TextDocumentIdentifier(uri(path))
    await client.text_document_document_symbol_async(types.DocumentSymbolParams(document))
    return document


def place(text: str, mark: str) -> types.Position:
    """The position after the first occurrence of a text."""
    before = text[: text.index(mark) + len(mark)]
    return types.Position(before.count("\n"), len(before) - before.rfind("\n") - 1)


async def labels(client, document, position):
    answer = await client.text_document_completion_async(types.CompletionParams(document, position))
    return [item.label for item in (answer.items if hasattr(answer, "items") else answer)]


async def actions(client, document, position):
    answer = await client.text_document_code_action_async(
        types.CodeActionParams(document, types.Range(position, position), types.CodeActionContext([]))
    )
    return {action.title: action for action in answer}


@pytest.mark.asyncio
async def test_a_mistake_is_shown_at_its_place_and_corrected(client: LanguageClient, house):
    text = ROOM.replace("button: kitchen", "button: kitchn")
    document = await opened(client, house / "room.yaml", text)
    [mistake] = client.diagnostics[document.uri]
    assert mistake.code == "E301" and mistake.source == "tryck"
    assert mistake.range == types.Range(types.Position(3, 23), types.Position(3, 29))
    fixes = await actions(client, document, types.Position(3, 23))
    [edit] = fixes["Replace kitchn by kitchen"].edit.document_changes[0].edits
    assert edit.new_text == "kitchen" and edit.range == mistake.range


@pytest.mark.asyncio
async def test_rules_are_completed(client: LanguageClient, house):
    text = ROOM.replace("button: kitchen", "button: k")
    document = await opened(client, house / "room.yaml", text)
    assert await labels(client, document, place(text, "button: k")) == ["kitchen"]
    assert "cooldown" in await labels(client, document, types.Position(4, 4))


@pytest.mark.asyncio
async def test_settings_secrets_variables_and_included_files_are_completed(client: LanguageClient, house):
    text = "rules: home.yaml\nmqtt:\n  password: !secret \nlog: {level: w}\nweb: {pa}\n"
    document = await opened(client, house / "tryck.yaml", text)
    assert await labels(client, document, place(text, "!secret ")) == ["lamp_token"]
    assert await labels(client, document, place(text, "level: w")) == ["warning"]
    assert await labels(client, document, place(text, "{pa")) == ["password"]
    text = "version: 1\ninclude: r\nlocation: !env_var HOM\n"
    document = await opened(client, house / "home.yaml", text)
    assert await labels(client, document, place(text, "include: r")) == ["room.yaml"]
    assert "HOME" in await labels(client, document, place(text, "!env_var HOM"))


@pytest.mark.asyncio
async def test_names_are_explained_found_and_renamed_in_all_files(client: LanguageClient, house):
    document = await opened(client, house / "room.yaml")
    button = place(ROOM, "button: k")
    hover = await client.text_document_hover_async(types.HoverParams(document, button))
    assert "a button of model flic2" in hover.contents.value
    [found] = await client.text_document_definition_async(types.DefinitionParams(document, button))
    assert found.uri == uri(house / "home.yaml") and found.range.start.line == 3
    uses = await client.text_document_references_async(
        types.ReferenceParams(types.ReferenceContext(include_declaration=True), document, button)
    )
    assert sorted((use.uri.split("/")[-1], use.range.start.line) for use in uses) == [
        ("home.yaml", 3), ("home.yaml", 8), ("room.yaml", 3),
    ]
    edit = await client.text_document_rename_async(types.RenameParams(document, button, "cook"))
    assert sum(len(change.edits) for change in edit.document_changes) == 3


@pytest.mark.asyncio
async def test_keys_are_sorted_with_their_comments(client: LanguageClient, house):
    document = await opened(client, house / "room.yaml")
    offered = await actions(client, document, types.Position(1, 6))
    [edit] = offered["Sort the keys of this rule as in the reference"].edit.document_changes[0].edits
    assert edit.new_text == (
        "  - id: lamp\n    # What starts it.\n    triggers: {button: kitchen, event: click}\n    actions: {log: clicked}\n"
    )


@pytest.mark.asyncio
async def test_a_password_moves_to_the_secrets(client: LanguageClient, house):
    document = await opened(client, house / "tryck.yaml")
    offered = await actions(client, document, types.Position(1, 30))
    changes = offered["Move this password to secrets.yaml as mqtt_password"].edit.document_changes
    assert [(change.text_document.uri, change.edits[0].new_text) for change in changes] == [
        (uri(house / "tryck.yaml"), "!secret mqtt_password"),
        (uri(house / "secrets.yaml"), 'mqtt_password: "hunter2"\n'),
    ]


@pytest.mark.asyncio
async def test_a_test_is_run_from_its_lens(client: LanguageClient, house):
    document = await opened(client, house / "home.yaml")
    [lens] = await client.text_document_code_lens_async(types.CodeLensParams(document))
    assert lens.command.title == "▶ run this test" and lens.range.start.line == 6
    result = await client.workspace_execute_command_async(
        types.ExecuteCommandParams(lens.command.command, lens.command.arguments)
    )
    assert result["passed"] if isinstance(result, dict) else result.passed
    [lens] = await client.text_document_code_lens_async(types.CodeLensParams(document))
    assert lens.command.title == "✓ passed ▶ run again"
    assert client.messages[-1].message == "test passed: a click"


@pytest.mark.asyncio
async def test_symbols_hints_and_colours(client: LanguageClient, house):
    document = await opened(client, house / "home.yaml")
    symbols = await client.text_document_document_symbol_async(types.DocumentSymbolParams(document))
    assert [child.name for symbol in symbols for child in symbol.children or []] == ["kitchen", "sofa", "a click"]
    found = await client.workspace_symbol_async(types.WorkspaceSymbolParams("lam"))
    assert [symbol.name for symbol in found] == ["lamp"]
    text = ROOM.replace("    id: lamp", "    conditions: buttons.sofa.held == false\n    id: lamp").replace(
        "event: click", "event: [click, double_click]"
    )
    document = await opened(client, house / "room.yaml", text)
    tokens = await client.text_document_semantic_tokens_full_async(types.SemanticTokensParams(document))
    assert len(tokens.data) % 5 == 0 and len(tokens.data) >= 10
    whole = types.Range(types.Position(0, 0), types.Position(100, 0))
    [hint] = await client.text_document_inlay_hint_async(types.InlayHintParams(document, whole))
    assert hint.position.line == 3


@pytest.mark.asyncio
async def test_a_wrong_request_is_an_error_and_the_server_goes_on(client: LanguageClient, house):
    document = await opened(client, house / "home.yaml")
    with pytest.raises(Exception, match="mistakes|no test"):
        await client.workspace_execute_command_async(
            types.ExecuteCommandParams("tryck.runTest", [document.uri, "no such test"])
        )
    assert await client.text_document_code_lens_async(types.CodeLensParams(document))
