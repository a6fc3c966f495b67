-- Run by Neovim: opens a file of a rule set, and prints what the language server does. TRYCK is the program, FILE the file.
local function say(...) io.stdout:write(table.concat({ ... }, " "), "\n") end
local function wait(condition) return vim.wait(30000, condition, 20) end

vim.cmd("edit " .. vim.env.FILE)
local client = vim.lsp.start_client({
    name = "tryck", cmd = { vim.env.TRYCK, "language-server" }, root_dir = vim.fn.getcwd(),
})
vim.lsp.buf_attach_client(0, client)

local function ask(method, parameters)
    parameters.textDocument = vim.lsp.util.make_text_document_params()
    local answers = vim.lsp.buf_request_sync(0, "textDocument/" .. method, parameters, 30000)
    return answers[client].result
end
local function line() return vim.api.nvim_buf_get_lines(0, 2, 3, false)[1] end
local button = { line = 2, character = 23 }

wait(function() return #vim.diagnostic.get(0) > 0 end)
for _, diagnostic in ipairs(vim.diagnostic.get(0)) do
    say("diagnostic", diagnostic.code, diagnostic.lnum, diagnostic.col, (diagnostic.message:gsub("\n", "; ")))
end
for _, item in ipairs(ask("completion", { position = { line = 2, character = 26 } }).items) do
    say("completion", item.label)
end
for _, action in ipairs(ask("codeAction", { range = { start = button, ["end"] = button }, context = { diagnostics = {} } })) do
    say("action", action.title)
    vim.lsp.util.apply_workspace_edit(action.edit, "utf-16")
end
say("fixed", line())
wait(function() return #vim.diagnostic.get(0) == 0 end)
say("diagnostics", #vim.diagnostic.get(0))
say("hover", (ask("hover", { position = button }).contents.value:gsub("\n", " ")))
vim.api.nvim_win_set_cursor(0, { 3, 24 })
vim.lsp.buf.rename("cook")
wait(function() return line():find("cook") end)
vim.cmd("wall")
say("renamed", line())
vim.lsp.stop_client(client)
wait(function() return vim.lsp.client_is_stopped(client) end)
say("stopped", tostring(vim.lsp.client_is_stopped(client)))
vim.cmd("qa!")
