import { createHash } from 'node:crypto'
import { dayMs, hourMs, minuteMs, type Clock } from '../../base/clock.ts'
import { Fault } from '../../base/fault.ts'
import type { Ids } from '../../base/ids.ts'
import type { MaybePromise } from '../../base/maybe-promise.ts'
import type { Random } from '../../base/random.ts'
import { isAllowedIp, networksOf } from '../identity/allowed-ips.ts'
import type { Actor, ActorCall, WithAuditRecord } from '../mutations/audit-log.ts'
import type { AuditedMutation } from '../mutations/audited-mutation.ts'
import type { AuthFailures } from '../identity/auth-failures.ts'
import type { Changes } from '../mutations/changes.ts'
import type {
  ConsoleSession,
  ConsoleSessionReads,
  ConsoleSessionStore,
  SessionHolder,
} from './console-session-store.ts'
import { createCredentialCache, type KnownCredential } from '../identity/credential-cache.ts'
import type { AdminKey, Administrator, Organization } from '../identity/principal.ts'
import { permissionsOf } from '../identity/roles.ts'

/** Sessions of the console. The token of a session is the value of its cookie. */
export type ConsoleSessions = {
  /** The administrator that a session acts as. A cached session is returned synchronously. */
  administrator(token: string, address: string): MaybePromise<Administrator>
  /** Starts a session for an administrator who sent a key, or for a member. Returns its token. */
  start(administrator: Administrator, origin: SessionOrigin): Promise<string>
  /** Starts a session with a one-time link. Returns its token. */
  startWithLink(link: string, origin: SessionOrigin): Promise<string>
  /** Ends the session of a token; an unknown one has ended already. */
  end(token: string, origin: SessionOrigin): Promise<void>
}

/** The request that starts or ends a session. */
export type SessionOrigin = { readonly requestId: string; readonly call: ActorCall }

export type ConsoleSessionParts = {
  readonly reads: ConsoleSessionReads
  readonly mutate: AuditedMutation<{ readonly sessions: ConsoleSessionStore }>
  readonly failures: AuthFailures
  readonly changes: Changes
  readonly clock: Clock
  readonly ids: Ids
  readonly random: Random
  /** Called when the time of the last use could not be written. The request goes on. */
  readonly onTouchFailed: (error: unknown) => void
}

/** A session that was not used for this time has ended. */
export const sessionIdleMs = 12 * hourMs
const longestSessionMs = 7 * dayMs
const linkMs = 15 * minuteMs
const touchEveryMs = minuteMs
const tokenBytes = 32
const maxUserAgent = 300

export function createConsoleSessions(parts: ConsoleSessionParts): ConsoleSessions {
  const { reads, mutate, failures, changes, clock, ids, random } = parts
  const cache = createCredentialCache<SessionAdministrator>({ clock, changes, invalid: signedOut })

  async function read(token: string): Promise<KnownCredential<SessionAdministrator>> {
    const readAt = changes.count()
    const found = await reads.findSession(digestOf(token))
    if (!found || !isUsable(found.holder, clock.nowMs())) throw signedOut()
    const { session, holder, organization } = found
    const administrator = administratorOf(holder, organization)
    const expiresAtMs = Math.min(session.expiresAtMs, administrator.expiresAtMs ?? Infinity)
    const value = { ...administrator, sessionId: session.id }
    return { value, readAt, expiresAtMs, touchedAtMs: session.lastSeenAtMs }
  }

  const isIdle = ({ touchedAtMs }: KnownCredential<SessionAdministrator>): boolean =>
    clock.nowMs() - touchedAtMs >= sessionIdleMs

  function admit(known: KnownCredential<SessionAdministrator>, address: string): Administrator {
    const { networks, sessionId } = known.value
    const nowMs = clock.nowMs()
    if (isIdle(known) || (known.expiresAtMs ?? Infinity) <= nowMs) throw signedOut()
    if (networks !== null && !isAllowedIp(networks, address))
      throw new Fault('permission', 'ip_not_allowed', `The key of this session may not be used from ${address}.`)
    if (nowMs - known.touchedAtMs >= touchEveryMs) {
      known.touchedAtMs = nowMs
      reads.touchSession(sessionId, nowMs).catch(parts.onTouchFailed)
    }
    return known.value
  }

  /** `link`: the digest of the link that is used up by this session. */
  async function begin(administrator: Administrator, origin: SessionOrigin, link?: string): Promise<string> {
    const token = newToken(random)
    const session = newSession(administrator, origin, { id: ids('ses'), nowMs: clock.nowMs() })
    return mutate(actorOf(administrator, origin), async ({ sessions }) => {
      if (link !== undefined && !(await sessions.takeLink(link))) throw invalidLink()
      await sessions.insertSession(session, digestOf(token))
      const details = { [`${session.holder.type}_id`]: administrator.id, by: wayOf(administrator, link) }
      return { value: token, record: { kind: 'console_session.created', resourceId: session.id, details } }
    })
  }

  function failedLink(address: string): Fault {
    failures.add(address)
    const retryAfterSeconds = failures.waitSeconds(address)
    if (retryAfterSeconds === 0) return invalidLink()
    const message = 'Too many failed authentications came from this address.'
    return new Fault('rate_limit', 'too_many_auth_failures', message, { retryAfterSeconds })
  }

  return {
    administrator(token, address) {
      const known = cache.get(token)
      // Other nodes may have seen the session later than this one, so an idle one is read again.
      if (known && !isIdle(known)) return admit(known, address)
      return cache.refresh(token, () => read(token)).then((fresh) => admit(fresh, address))
    },
    start: (administrator, origin) => begin(administrator, origin),
    async startWithLink(token, origin) {
      const digest = digestOf(token)
      const found = await reads.findLink(digest)
      const nowMs = clock.nowMs()
      if (!found || found.link.expiresAtMs <= nowMs || !isUsable(found, nowMs)) throw failedLink(origin.call.address)
      return begin(administratorOf(found, found.organization), origin, digest)
    },
    async end(token, origin) {
      const found = await reads.findSession(digestOf(token))
      if (!found) return
      const { session, holder, organization } = found
      await mutate(actorOf(administratorOf(holder, organization), origin), async ({ sessions }) => {
        if (!(await sessions.removeSession(session.organizationId, session.id))) return { value: undefined }
        return { value: undefined, record: { kind: 'console_session.revoked', resourceId: session.id, details: {} } }
      })
    },
  }
}

type SessionAdministrator = Administrator & { readonly sessionId: string }

export type CreatedLink = { readonly token: string; readonly keyId: string; readonly expiresAtMs: number }

/** Creates a link that signs in once, as this key. */
export async function createConsoleLink(
  store: Pick<ConsoleSessionStore, 'insertLink'>,
  { id: adminKeyId, organizationId }: AdminKey,
  { clock, random }: Pick<ConsoleSessionParts, 'clock' | 'random'>,
): Promise<CreatedLink> {
  const token = newToken(random)
  const expiresAtMs = clock.nowMs() + linkMs
  await store.insertLink({ organizationId, adminKeyId, expiresAtMs }, digestOf(token))
  return { token, keyId: adminKeyId, expiresAtMs }
}

const newToken = (random: Random): string => Buffer.from(random.bytes(tokenBytes)).toString('base64url')

/** The token has 256 random bits, so its digest needs neither a salt nor a pepper. */
const digestOf = (token: string): string => createHash('sha256').update(token).digest('hex')

function isUsable(holder: SessionHolder, nowMs: number): boolean {
  if ('member' in holder) return holder.member.removedAtMs === null && holder.member.suspendedAtMs === null
  return holder.key.revokedAtMs === null && (holder.key.expiresAtMs ?? Infinity) > nowMs
}

/** The id is that of the key or member: limits, idempotency and audit events belong to it, however it is used. */
export function administratorOf(holder: SessionHolder, organization: Organization): Administrator {
  if ('member' in holder) {
    const { id, role } = holder.member
    const permissions = new Set(permissionsOf(role))
    return { kind: 'member', id, organization, permissions, expiresAtMs: null, networks: null }
  }
  const { key } = holder
  return {
    kind: 'console',
    id: key.id,
    organization,
    permissions: new Set(key.permissions),
    expiresAtMs: key.expiresAtMs,
    networks: key.allowedIps && networksOf(key.allowedIps),
  }
}

function wayOf({ kind }: Administrator, link: string | undefined): 'key' | 'link' | 'oidc' {
  if (kind === 'member') return 'oidc'
  return link === undefined ? 'key' : 'link'
}

function newSession(
  administrator: Administrator,
  { call }: SessionOrigin,
  { id, nowMs }: { readonly id: string; readonly nowMs: number },
): ConsoleSession {
  return {
    id,
    organizationId: administrator.organization.id,
    holder: { type: administrator.kind === 'member' ? 'member' : 'admin_key', id: administrator.id },
    address: call.address,
    userAgent: call.userAgent?.slice(0, maxUserAgent) ?? null,
    createdAtMs: nowMs,
    lastSeenAtMs: nowMs,
    expiresAtMs: nowMs + longestSessionMs,
  }
}

const actorOf = ({ kind, organization, id }: Administrator, { requestId, call }: SessionOrigin): Actor => ({
  organizationId: organization.id,
  kind: kind === 'member' ? 'member' : 'console',
  credentialId: id,
  requestId,
  call,
})

const signedOut = (): Fault =>
  new Fault('auth', 'signed_out', 'The session of this browser is unknown or has ended. Sign in at /console/.')

const invalidLink = (): Fault =>
  new Fault('auth', 'invalid_link', 'This link was used before or has expired. Create another: gatehouse console link')

/** Ends a session of the organization, also one of another person. */
export async function endSession(
  store: Pick<ConsoleSessionStore, 'removeSession'>,
  organizationId: string,
  id: string,
): Promise<WithAuditRecord<string>> {
  if (!(await store.removeSession(organizationId, id)))
    throw new Fault('not_found', 'not_found', `There is no sign-in ${id}.`)
  return { value: id, record: { kind: 'console_session.revoked', resourceId: id, details: {} } }
}
