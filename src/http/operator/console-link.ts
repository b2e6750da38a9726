import Type, { type Static } from 'typebox'
import { toUnixSeconds, type Clock } from '../../base/clock.ts'
import { Fault } from '../../base/fault.ts'
import { createConsoleLink, type CreatedLink } from '../../domain/members/console-sessions.ts'
import type { AdminKey } from '../../domain/identity/principal.ts'
import type { DirectoryStore } from '../../domain/identity/store.ts'
import { text } from '../described.ts'
import { idText, none, unixTime } from '../resources/fields.ts'
import type { Route } from '../route.ts'
import type { OperatorRoutes } from './route.ts'
import type { ConsoleSessionStore } from '../../domain/members/console-session-store.ts'
import type { Random } from '../../base/random.ts'

const NewLink = Type.Object(
  {
    key_id: Type.Optional(
      idText(
        'The administrator key that the link signs in as; by default the oldest usable one with all permissions.',
        'adk_01k9z8y7x6w5v4t3s2r1q0p9n8',
      ),
    ),
  },
  { title: 'ConsoleLinkCreate', additionalProperties: false, examples: [{}] },
)

export const ConsoleLinkObject = Type.Object(
  {
    object: Type.Literal('console_link'),
    url: text('The address that signs a browser in, once.'),
    key_id: text('The administrator key that the session acts as.'),
    expires_at: unixTime('When the link stops working.'),
  },
  { title: 'ConsoleLink' },
)

type LinkStores = { readonly directory: DirectoryStore; readonly sessions: ConsoleSessionStore }

type ConsoleLinkParts = {
  readonly clock: Clock
  readonly random: Random
  /** The address of the console; undefined if it is off. */
  readonly consoleUrl: (() => string) | undefined
}

/** A link that signs a browser in, once. Only the operator may create it: it needs no key. */
export function consoleLinkRoute(
  { mutation }: OperatorRoutes<LinkStores>,
  { clock, random, consoleUrl }: ConsoleLinkParts,
): Route {
  return mutation({
    name: 'createConsoleLink',
    method: 'POST',
    path: '/operator/organization/console_links',
    summary: 'Create a link that signs a browser in',
    description: 'It works once, within 15 minutes.',
    permission: '*',
    params: none,
    query: none,
    body: NewLink,
    status: 201,
    answer: { description: 'The link.', schema: ConsoleLinkObject },
    async operation({ directory, sessions }, { actor: { organization }, body: { key_id: keyId } }) {
      if (consoleUrl === undefined)
        throw new Fault('conflict', 'invalid_state', 'The console is off: console.enabled is false.')
      const key = await usableKey(directory, { organizationId: organization.id, keyId, nowMs: clock.nowMs() })
      const value = await createConsoleLink(sessions, key, { clock, random })
      return { value, record: { kind: 'console_link.created', resourceId: key.id, details: {} } }
    },
    present: (link) => presentLink(link, consoleUrl?.() ?? ''),
  })
}

/** The token is in the fragment of the address, which browsers send to no server and write to no log. */
const presentLink = (
  { token, keyId, expiresAtMs }: CreatedLink,
  consoleUrl: string,
): Static<typeof ConsoleLinkObject> => ({
  object: 'console_link',
  url: `${consoleUrl}#start=${token}`,
  key_id: keyId,
  expires_at: toUnixSeconds(expiresAtMs),
})

type Wanted = { readonly organizationId: string; readonly keyId: string | undefined; readonly nowMs: number }

const mostKeys = { limit: 1000, order: 'asc' } as const

async function usableKey(directory: DirectoryStore, { organizationId, keyId, nowMs }: Wanted): Promise<AdminKey> {
  const active = { ...mostKeys, status: { is: 'active' as const, nowMs } }
  const { items } = await directory.listAdminKeys(organizationId, active)
  const key = items.find(({ id, permissions }) => (keyId === undefined ? permissions.includes('*') : id === keyId))
  if (key) return key
  const problem =
    keyId === undefined
      ? 'No usable administrator key has all permissions. Create one with gatehouse keys create --admin, or name another with --key.'
      : `There is no usable administrator key ${keyId}.`
  throw new Fault('not_found', 'not_found', problem)
}

export type ConsoleLinkBody = Static<typeof ConsoleLinkObject>
