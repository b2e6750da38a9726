import type { IncomingHttpHeaders } from 'node:http'

/**
 * The headers in which coding agents name their session: Claude Code, Qwen Code, OpenCode, Codex (three names over time), Cline
 * and others. The first one that is sent counts.
 */
const sessionHeaders = [
  'x-claude-code-session-id',
  'x-qwen-code-session-id',
  'x-opencode-session',
  'session_id',
  'session-id',
  'conversation_id',
  'thread-id',
  'x-session-id',
  'x-task-id',
]

const maxLength = 256

/** The session of the agent that sent a request. It is a label for the audit log; nothing is decided by it. */
export function agentSessionOf(headers: IncomingHttpHeaders): string | undefined {
  for (const name of sessionHeaders) {
    const value = headers[name]
    if (typeof value === 'string' && value !== '') return value.slice(0, maxLength)
  }
  return undefined
}
