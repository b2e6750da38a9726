import { messageOf } from '../../base/fault.ts'
import type { Config } from '../../config/config.ts'
import type { Diagnosis } from './diagnosis.ts'

const part = 'identity provider'

/** Reads the description of the issuer, because without it nobody signs in through it. */
export async function checkOidc(
  { console: { enabled, oidc } }: Pick<Config, 'console'>,
  { isOffline }: { readonly isOffline: boolean },
): Promise<Diagnosis[]> {
  if (!enabled || oidc === undefined) return []
  const { issuer, scopes, roles } = oidc
  if (!scopes.includes('openid'))
    return [{ part, state: 'wrong', message: 'console.oidc.scopes lacks openid', fix: 'Add openid to the list.' }]
  if (isOffline) return [{ part, state: 'ok', message: `${issuer} was not asked` }]
  try {
    const { discoverIssuer } = await import('../../adapters/oidc.ts')
    await discoverIssuer(issuer)
  } catch (error) {
    const message = `${issuer} cannot be discovered (${messageOf(error)}): nobody can sign in through it`
    return [{ part, state: 'wrong', message, fix: 'Is console.oidc.issuer right, and can this machine reach it?' }]
  }
  if (Object.keys(roles).length > 0) return [{ part, state: 'ok', message: issuer }]
  return [{ part, state: 'ok', message: `${issuer}; console.oidc.roles is empty, so only invited members sign in` }]
}
