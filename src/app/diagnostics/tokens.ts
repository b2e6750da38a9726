import { messageOf } from '../../base/fault.ts'
import { plural } from '../../base/plural.ts'
import type { Config } from '../../config/config.ts'
import type { Diagnosis } from './diagnosis.ts'

const part = 'tokens'

/** Fetches the keys of the token issuer, because without them every token gets 503. */
export async function checkTokens(
  { auth: { jwt } }: Pick<Config, 'auth'>,
  { isOffline }: { readonly isOffline: boolean },
): Promise<Diagnosis[]> {
  if (jwt === undefined) return []
  const { jwks_url: url, secret, algorithms } = jwt
  if ((url === undefined) === (secret === undefined))
    return [{ part, state: 'wrong', message: 'auth.jwt needs either jwks_url or secret', fix }]
  if (url === undefined) return [{ part, state: 'ok', message: `of ${jwt.issuer}, with a shared secret` }]
  if (isOffline) return [{ part, state: 'ok', message: `of ${jwt.issuer}; its keys were not fetched` }]
  try {
    const { fetchKeys } = await import('../../adapters/jwt.ts')
    const keys = await fetchKeys(url)
    const usable = keys.filter(({ algorithm }) => algorithms.some((each) => (algorithm ?? each) === each))
    if (usable.length > 0)
      return [{ part, state: 'ok', message: `${url} has ${plural(usable.length, 'key')} for tokens of ${jwt.issuer}` }]
    const found = keys.map(({ algorithm }) => algorithm).join(', ') || 'none'
    const message = `${url} has no key for the algorithms ${algorithms.join(', ')}; found: ${found}`
    return [{ part, state: 'wrong', message, fix: 'Add the algorithm of your issuer to auth.jwt.algorithms.' }]
  } catch (error) {
    const message = `the keys of the issuer cannot be fetched from ${url} (${messageOf(error)}): tokens get 503`
    return [{ part, state: 'wrong', message, fix: 'Is auth.jwt.jwks_url right, and can this machine reach it?' }]
  }
}

const fix = 'docs/guide/jwt.md has an example.'
