import Type, { type Static } from 'typebox'
import { toUnixSeconds, type Clock } from '../../../base/clock.ts'
import type { ListedSession, ConsoleSessionStore } from '../../../domain/members/console-session-store.ts'
import { endSession, sessionIdleMs } from '../../../domain/members/console-sessions.ts'
import type { Administrator } from '../../../domain/identity/principal.ts'
import { flag, text } from '../../described.ts'
import { idText, none, orNull, unixTime } from '../../resources/fields.ts'
import { listOf, listQuery, pageExample, pageOf, presentList } from '../../resources/list.ts'
import type { Route } from '../../route.ts'
import type { AdminRoutes } from '../routes.ts'

const path = '/v1/organization/sign_ins'
const exampleId = 'ses_01k9z8y7x6w5v4t3s2r1q0p9n8'

const example = {
  id: exampleId,
  object: 'organization.sign_in',
  actor: { type: 'member', id: 'mem_01k9z8y7x6w5v4t3s2r1q0p9n8', name: 'Ada Lovelace' },
  address: '203.0.113.7',
  user_agent: 'Mozilla/5.0 (X11; Linux x86_64) Firefox/145.0',
  created_at: 1_767_225_600,
  last_seen_at: 1_767_229_200,
  expires_at: 1_767_830_400,
  is_current: false,
}

export const SignInObject = Type.Object(
  {
    id: text('The id of the sign-in.'),
    object: Type.Literal('organization.sign_in'),
    actor: Type.Object(
      {
        type: Type.Enum(['admin_key', 'member'], { description: 'A key or a member.' }),
        id: text('The id of the key or member.'),
        name: text('Its name; of a member without a name, the email address or the subject.'),
      },
      { description: 'Who the browser acts as.' },
    ),
    address: text('The address that the sign-in came from.'),
    user_agent: orNull(Type.String(), 'The browser, in its own words; null if it sent nothing.'),
    created_at: unixTime('When the browser signed in.'),
    last_seen_at: unixTime('Time of the last use, to the minute.'),
    expires_at: unixTime('When it ends in any case. It ends earlier after 12 hours without use.'),
    is_current: flag('Whether this request was sent with it.'),
  },
  { title: 'SignIn', examples: [example] },
)

const SignInList = listOf('SignInList', SignInObject, pageExample(example))

const EndedSignIn = Type.Object(
  {
    id: text('The sign-in that was ended.'),
    object: Type.Literal('organization.sign_in.deleted'),
    deleted: Type.Literal(true),
  },
  { title: 'SignInDeleted', examples: [{ id: exampleId, object: 'organization.sign_in.deleted', deleted: true }] },
)

/** `/v1/organization/sign_ins`: the browsers that are signed in to the console. */
export function signInListRoutes(
  { read, mutation }: AdminRoutes<{ readonly sessions: ConsoleSessionStore }>,
  clock: Clock,
): Route[] {
  return [
    read({
      name: 'listSignIns',
      path,
      summary: 'List the browsers that are signed in to the console',
      permission: 'members:read',
      params: none,
      query: listQuery({}),
      answer: { description: 'A page of sign-ins that have not ended.', schema: SignInList },
      async operation({ sessions }, { actor, query }) {
        const nowMs = clock.nowMs()
        const page = { ...pageOf(query), nowMs, idleSinceMs: nowMs - sessionIdleMs }
        return presentList(await sessions.listSessions(actor.organization.id, page), (session) =>
          presentSignIn(session, actor),
        )
      },
    }),
    mutation({
      name: 'deleteSignIn',
      method: 'DELETE',
      path: `${path}/{sign_in_id}`,
      summary: 'End a sign-in',
      description: 'The browser is signed out at once, on other nodes within a second. The person may sign in again.',
      permission: 'members:write',
      params: Type.Object({ sign_in_id: idText('The sign-in.', exampleId) }),
      query: none,
      body: none,
      answer: { description: 'The id of the ended sign-in.', schema: EndedSignIn },
      operation: ({ sessions }, { actor, params }) => endSession(sessions, actor.organization.id, params.sign_in_id),
      present: (id) => ({ id, object: 'organization.sign_in.deleted', deleted: true }),
    }),
  ]
}

const presentSignIn = (session: ListedSession, { sessionId }: Administrator): Static<typeof SignInObject> => ({
  id: session.id,
  object: 'organization.sign_in',
  actor: { ...session.holder, name: session.holderName },
  address: session.address,
  user_agent: session.userAgent,
  created_at: toUnixSeconds(session.createdAtMs),
  last_seen_at: toUnixSeconds(session.lastSeenAtMs),
  expires_at: toUnixSeconds(session.expiresAtMs),
  is_current: session.id === sessionId,
})

export type SignInBody = Static<typeof SignInObject>
