import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { LimitStoreError } from '../../../domain/limits/store.ts'
import type { RedisConnection } from './connection.ts'

const read = (name: string): string => readFileSync(new URL(`./${name}.lua`, import.meta.url), 'utf8')

const script = (name: string) => {
  const source = `${read('windows')}\n${read(name)}`
  return { source, digest: createHash('sha1').update(source).digest('hex') }
}

const scripts = {
  admit: script('admit'),
  settle: script('settle'),
  leave: script('leave'),
  renew: script('renew'),
  grant: script('grant'),
  close: script('close'),
  accounts: script('accounts'),
  contribute: script('contribute'),
  register: script('register'),
}

export type ScriptName = keyof typeof scripts

/** Runs a script by its digest. Sends the source if the server has not loaded the script yet. */
export async function runScript(
  { send }: RedisConnection,
  name: ScriptName,
  { keys, args }: { readonly keys: readonly string[]; readonly args: readonly (string | number)[] },
): Promise<unknown> {
  const { source, digest } = scripts[name]
  try {
    return await send((client) => client.evalsha(digest, keys.length, ...keys, ...args))
  } catch (error) {
    if (!isReplyError(error, 'NOSCRIPT')) throw toLimitStoreError(error)
  }
  try {
    return await send((client) => client.eval(source, keys.length, ...keys, ...args))
  } catch (error) {
    throw toLimitStoreError(error)
  }
}

const isReplyError = (error: unknown, code: string): error is Error =>
  error instanceof Error && error.name === 'ReplyError' && error.message.startsWith(code)

/** `ERR`, `WRONGTYPE` and `CROSSSLOT` mean a fault in the script. Other replies (LOADING, READONLY, OOM) mean an unavailable server. */
function toLimitStoreError(error: unknown): LimitStoreError {
  const isScriptFault = ['ERR', 'WRONGTYPE', 'CROSSSLOT'].some((code) => isReplyError(error, code))
  const message = error instanceof Error ? error.message : String(error)
  return new LimitStoreError(isScriptFault ? 'script' : 'unreachable', message, error)
}
