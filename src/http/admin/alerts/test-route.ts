import type { AlertChannelStore } from '../../../domain/alerts/channel.ts'
import { findChannel } from '../../../domain/alerts/channel-mutations.ts'
import type { ChannelTest } from '../../../domain/alerts/test-channel.ts'
import { createAdministrationLimits } from '../../../domain/identity/administration-limits.ts'
import { requirePermission } from '../../../domain/identity/permissions.ts'
import type { AuditedMutation } from '../../../domain/mutations/audited-mutation.ts'
import { none } from '../../resources/fields.ts'
import { admitRequest } from '../../resources/limit.ts'
import { actorOf } from '../../resources/route.ts'
import type { Route } from '../../route.ts'
import { createQueryValidator, createValidator } from '../../validate.ts'
import type { AdminSurface } from '../routes.ts'
import { channelAt, channelPath } from './channel-routes.ts'
import { ChannelParams, ChannelTestObject, type ChannelTestBody } from './channel-schema.ts'

/** Low, so that the endpoint can neither scan a network nor flood a mailbox. */
const testsPerMinute = { requestsPerMinute: 6, concurrentRequests: 2 }

type ChannelTestRouteParts = Pick<AdminSurface, 'authenticate' | 'limits' | 'clock' | 'credential'> & {
  readonly channels: Pick<AlertChannelStore, 'find'>
  readonly mutate: AuditedMutation<object>
  readonly testChannel: ChannelTest
}

/** Sends one message and returns what the other side answered. The audit event is written first, so that no call is without a trace. */
export function alertTestRoute(parts: ChannelTestRouteParts): Route {
  const { authenticate, clock, channels, mutate, testChannel } = parts
  const limits = createAdministrationLimits(clock, { credential: testsPerMinute, organization: testsPerMinute })
  const readParams = createQueryValidator(ChannelParams)
  const readNothing = createValidator(none)
  const readNoQuery = createQueryValidator(none)
  return {
    name: 'testAlertChannel',
    method: 'POST',
    path: `${channelPath}/test`,
    summary: 'Test an alert channel',
    description:
      'Sends one message that says that it is a test, also by a paused channel. At most six times per minute.',
    credential: parts.credential,
    permission: 'alerts:write',
    params: ChannelParams,
    answers: { 200: { description: 'What the other side answered.', schema: ChannelTestObject } },
    errorStatuses: [400, 401, 403, 404, 413, 422, 429, 500, 503],
    async handle(request): Promise<ChannelTestBody> {
      const actor = await authenticate(request)
      using _slot = admitRequest(parts, actor)
      requirePermission(actor.permissions, 'alerts:write')
      readNothing(request.body ?? {})
      readNoQuery(request.query)
      const channel = await findChannel(channels, channelAt({ actor, params: readParams(request.params) }))
      using _test = admitRequest({ limits, clock }, actor)
      const { id, kind, name } = channel
      const record = { kind: 'alert_channel.tested', resourceId: id, details: { kind, name } } as const
      await mutate(actorOf(request, actor), async () => ({ value: undefined, record }))
      const { result, messageId } = await testChannel(channel, actor.organization)
      return {
        object: 'organization.alert_channel.test',
        success: result.kind === 'sent',
        message: result.answer,
        message_id: messageId,
      }
    },
  }
}
