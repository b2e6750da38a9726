import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { LimitStoreError } from '../../../domain/limits/store.ts'
import type { RedisConnection } from './connection.ts'

const read = (name: string): string => readFileSync(new URL(`./${name}.lua`, import.meta.url), 'utf8')

/**
 * Replaces constants by their values. The server executes a script as a whole at every call, and a local variable that a
 * function uses costs more there than the rest of the function.
 */
function inlineConstants(source: string): string {
  const values = new Map<string, string>()
  const rest = source.replaceAll(/^local ([A-Z_]+) = ('[^'\n]*'|\d+)( --.*)?\n/gm, (_, name: string, value: string) => {
    values.set(name, value)
    return ''
  })
  return rest.replaceAll(/\b[A-Z_]+\b/g, (word) => values.get(word) ?? word)
}

/** Joins files to one script. It contains only what it needs, for the same reason. */
const script = (...files: readonly string[]) => {
  const source = inlineConstants(files.map(read).join('\n'))
  return { source, digest: createHash('sha1').update(source).digest('hex') }
}

const scripts = {
  admit: script('organization', 'windows', 'waits', 'budgets', 'admit'),
  settle: script('organization', 'windows', 'budgets', 'settle'),
  contribute: script('organization', 'windows', 'leases', 'contribute'),
  leave: script('organization', 'leases', 'leave'),
  renew: script('organization', 'leases', 'renew'),
  accounts: script('organization', 'accounts'),
  countBudgets: script('organization', 'budgets', 'count-budgets'),
  heldBudgets: script('organization', 'budgets', 'held-budgets'),
  grant: script('grant'),
  close: script('close'),
  register: script('register'),
  probe: script('probe'),
}

export type ScriptName = keyof typeof scripts
export type ScriptCall = { readonly keys: readonly string[]; readonly args: readonly (string | number | Buffer)[] }

/** Runs a script by its digest. Sends the source if the server has not loaded the script yet. The reply of `admit` is binary. */
export async function runScript(
  { send }: RedisConnection,
  name: ScriptName,
  { keys, args }: ScriptCall,
): Promise<unknown> {
  const { source, digest } = scripts[name]
  const parameters = [keys.length, ...keys, ...args]
  const call = (command: 'evalsha' | 'eval', body: string): Promise<unknown> =>
    send((client) =>
      name === 'admit' ? client.callBuffer(command, body, ...parameters) : client.call(command, body, ...parameters),
    )
  try {
    return await call('evalsha', digest)
  } catch (error) {
    if (!isReplyError(error, 'NOSCRIPT')) throw toLimitStoreError(error)
  }
  try {
    return await call('eval', source)
  } catch (error) {
    throw toLimitStoreError(error)
  }
}

const isReplyError = (error: unknown, code: string): error is Error =>
  error instanceof Error && error.name === 'ReplyError' && error.message.startsWith(code)

/** True if another server of the cluster has the keys, so that the script was not executed. */
export const isMoved = (error: unknown): boolean =>
  error instanceof LimitStoreError && isReplyError(error.cause, 'MOVED')

/** `ERR`, `WRONGTYPE` and `CROSSSLOT` mean a fault in the script. Other replies (LOADING, READONLY, OOM) mean an unavailable server. */
function toLimitStoreError(error: unknown): LimitStoreError {
  const isScriptFault = ['ERR', 'WRONGTYPE', 'CROSSSLOT'].some((code) => isReplyError(error, code))
  const message = error instanceof Error ? error.message : String(error)
  return new LimitStoreError(isScriptFault ? 'script' : 'unreachable', message, error)
}
