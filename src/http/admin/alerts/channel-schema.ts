import Type, { type Static, type TSchema } from 'typebox'
import { channelKinds, type ChannelKind } from '../../../domain/alerts/channel.ts'
import { maxNameLength } from '../../../domain/identity/bounds.ts'
import { flag, integer, text } from '../../described.ts'
import { idText, orNull, unixTime } from '../../resources/fields.ts'
import { listOf, listQuery, pageExample } from '../../resources/list.ts'
import { managedBy } from '../../resources/managed-by.ts'

export const channelExampleId = 'chan_01k9z8y7x6w5v4t3s2r1q0p9n8'

export const ChannelParams = Type.Object({ channel_id: idText('The alert channel.', channelExampleId) })
export const ChannelQuery = listQuery({})

const kind = Type.Enum([...channelKinds], {
  description:
    '`webhook`: signed JSON. `slack`: an incoming webhook. `email`: mail, if the installation has a mail server.',
})
const name = text('The name of the channel.', { minLength: 1, maxLength: maxNameLength, examples: ['On call'] })
const paused = flag('By a paused channel nothing is sent.')
const config = Type.Record(Type.String(), Type.Unknown(), {
  description:
    'The destination. The fields depend on the kind, as `createAlertChannel` describes them. Secrets are masked in responses.',
})

const exampleConfig = { url: 'https://alerts.example.com/gatehouse', secret: 'at-least-24-plain-characters' }

/** Validates a creation. `documentedChannels` describes it. */
export const NewChannelBody = Type.Object(
  { kind, name, paused: Type.Optional(paused), config },
  { additionalProperties: false },
)

export const ChangedChannelBody = Type.Object(
  { name: Type.Optional(name), paused: Type.Optional(paused), config: Type.Optional(config) },
  { title: 'AlertChannelUpdate', additionalProperties: false, examples: [{ paused: true }] },
)

/** The body of a creation with the configuration of each kind, for OpenAPI and the reference. */
export function documentedChannels(kinds: readonly Pick<ChannelKind, 'kind' | 'schema'>[]): TSchema {
  const titleOf = ({ schema }: { readonly schema: { readonly title?: string } }): string =>
    (schema.title ?? '').replace(/Config$/, 'Create')
  const members = kinds.map((each) =>
    Type.Object(
      { kind: Type.Literal(each.kind), name, paused: Type.Optional(paused), config: each.schema },
      { title: titleOf(each), additionalProperties: false },
    ),
  )
  const mapping = kinds.map((each) => [each.kind, `#/components/schemas/${titleOf(each)}`])
  return Type.Union(members, {
    title: 'AlertChannelCreate',
    description: 'A channel of one kind.',
    discriminator: { propertyName: 'kind', mapping: Object.fromEntries(mapping) },
    examples: [{ kind: 'webhook', name: 'On call', config: exampleConfig }],
  })
}

const example = {
  id: channelExampleId,
  object: 'organization.alert_channel',
  kind: 'webhook',
  name: 'On call',
  paused: false,
  config: { ...exampleConfig, secret: '••••ters' },
  created_at: 1_767_225_600,
  updated_at: 1_767_225_600,
  last_sent_at: 1_767_229_200,
  last_error_at: null,
  last_error: null,
  waiting: 0,
}

export const ChannelObject = Type.Object(
  {
    id: text('The id of the channel.'),
    object: Type.Literal('organization.alert_channel'),
    kind,
    name,
    paused,
    config,
    created_at: unixTime('When it was created.'),
    updated_at: unixTime('When it was changed.'),
    last_sent_at: orNull(unixTime('When a message was sent last.')),
    last_error_at: orNull(unixTime('When an attempt failed last.')),
    last_error: orNull(Type.String(), 'Why it failed.'),
    waiting: integer('Messages that are not sent yet.'),
    managed_by: managedBy,
  },
  { title: 'AlertChannel', examples: [example] },
)

export const ChannelList = listOf('AlertChannelList', ChannelObject, pageExample(example))

export const DeletedChannel = Type.Object(
  {
    id: text('The id of the deleted channel.'),
    object: Type.Literal('organization.alert_channel.deleted'),
    deleted: Type.Literal(true),
  },
  {
    title: 'DeletedAlertChannel',
    examples: [{ id: channelExampleId, object: 'organization.alert_channel.deleted', deleted: true }],
  },
)

export const ChannelTestObject = Type.Object(
  {
    object: Type.Literal('organization.alert_channel.test'),
    success: flag('Whether the other side accepted the message.'),
    message: text('What it answered.'),
    message_id: text('The id of the message.'),
  },
  {
    title: 'AlertChannelTest',
    examples: [
      {
        object: 'organization.alert_channel.test',
        success: true,
        message: 'The receiver answered 200.',
        message_id: 'msg_01k9z8y7x6w5v4t3s2r1q0p9n8',
      },
    ],
  },
)

export type AlertChannelBody = Static<typeof ChannelObject>
export type ChannelTestBody = Static<typeof ChannelTestObject>
