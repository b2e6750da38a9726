import type { Clock } from '../../base/clock.ts'
import type { Ids } from '../../base/ids.ts'
import { withValues, type Configuration } from '../audit/export/configuration.ts'
import type { Organization } from '../identity/principal.ts'
import type { AlertMessage } from './alert.ts'
import type { AlertChannel, AlertChannelStore, ChannelKindName, SendResult } from './channel.ts'

export type ChannelTestParts = {
  readonly channels: Pick<AlertChannelStore, 'secretsOf'>
  readonly send: SendByChannel
  readonly ids: Ids
  readonly clock: Clock
}

/** Sends a message by a channel of this kind and configuration. */
export type SendByChannel = (
  channel: { readonly kind: ChannelKindName; readonly config: Configuration },
  message: Omit<AlertMessage, 'url'>,
  signal: AbortSignal,
) => Promise<SendResult>

export type ChannelTest = (
  channel: AlertChannel,
  organization: Pick<Organization, 'name'>,
) => Promise<{ readonly result: SendResult; readonly messageId: string }>

const timeoutMs = 30_000

/** Sends one message that says that it is a test, also by a paused channel, and returns what the other side answered. */
export function createChannelTest({ channels, send, ids, clock }: ChannelTestParts): ChannelTest {
  return async (channel, organization) => {
    const messageId = ids('msg')
    const config = withValues(channel.config, await channels.secretsOf(channel))
    const stop = new AbortController()
    const cancel = clock.after(timeoutMs, () => stop.abort(new Error('the test took too long')))
    const tooLong: SendResult = { kind: 'failed', answer: 'The destination could not be reached.' }
    const message = testMessage(channel, { messageId, organizationName: organization.name, nowMs: clock.nowMs() })
    const result = await send({ kind: channel.kind, config }, message, stop.signal)
      .catch((error: unknown) => {
        if (stop.signal.aborted) return tooLong
        throw error
      })
      .finally(cancel)
    return { result, messageId }
  }
}

type TestOptions = { readonly messageId: string; readonly organizationName: string; readonly nowMs: number }

const testMessage = (
  channel: AlertChannel,
  { messageId, organizationName, nowMs }: TestOptions,
): Omit<AlertMessage, 'url'> => ({
  id: messageId,
  messageId,
  event: 'test',
  organizationId: channel.organizationId,
  organizationName,
  ruleId: null,
  ruleName: '',
  kind: 'spend',
  subject: '',
  title: `the alert channel ${channel.name} works`,
  text: 'Somebody sent this to try the channel. Nothing happened.',
  figure: null,
  threshold: null,
  unit: null,
  link: { page: 'alerts' },
  startedAtMs: nowMs,
  endedAtMs: null,
})
