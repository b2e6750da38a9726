import type { Static } from 'typebox'
import { toUnixSeconds } from '../../../base/clock.ts'
import type { AlertChannelStore, ChannelKind, WatchedChannel } from '../../../domain/alerts/channel.ts'
import { findChannel, type ChannelAdministration, type ChannelAt } from '../../../domain/alerts/channel-mutations.ts'
import type { AlertRuleStore } from '../../../domain/alerts/rule.ts'
import { contentTag } from '../../resources/entity-tag.ts'
import { none } from '../../resources/fields.ts'
import { pageOf, presentList } from '../../resources/list.ts'
import type { ManagedResource } from '../../resources/managed-by.ts'
import type { Route } from '../../route.ts'
import type { AdminRoutes } from '../routes.ts'
import * as Schema from './channel-schema.ts'

const channelsPath = '/v1/organization/alert_channels'
export const channelPath = `${channelsPath}/{channel_id}`

export type AlertStores = { readonly channels: AlertChannelStore; readonly rules: AlertRuleStore }

const answer = { description: 'The alert channel.', schema: Schema.ChannelObject }

/** `/v1/organization/alert_channels`: where alerts are sent. */
export function alertChannelRoutes(
  { read, mutation }: AdminRoutes<AlertStores>,
  channels: ChannelAdministration,
  kinds: readonly ChannelKind[],
): Route[] {
  return [
    read({
      name: 'listAlertChannels',
      isManaged: true,
      path: channelsPath,
      summary: 'List alert channels',
      permission: 'alerts:read',
      params: none,
      query: Schema.ChannelQuery,
      answer: { description: 'A page of alert channels.', schema: Schema.ChannelList },
      operation: async ({ channels: store }, { actor, query }) =>
        presentList(await store.list(actor.organization.id, pageOf(query)), presentChannel),
    }),
    mutation({
      name: 'createAlertChannel',
      method: 'POST',
      path: channelsPath,
      summary: 'Create an alert channel',
      description:
        'An address that is not public, plain http and an unusual port are rejected, unless the operator allows them with `exports.allow_addresses`. A channel of the kind `email` needs a mail server of the installation (`mail.smtp_url`).',
      permission: 'alerts:write',
      params: none,
      query: none,
      body: Schema.NewChannelBody,
      documentedBody: Schema.documentedChannels(kinds),
      status: 201,
      answer,
      prepare: (_reads, { body }) => channels.newAddressProblems(body),
      operation(stores, { actor, body: { kind, name, paused = false, config }, prepared: addressProblems = [] }) {
        return channels.create(stores, actor.organization.id, { kind, name, isPaused: paused, config, addressProblems })
      },
      managed: managedChannel,
      present: presentChannel,
    }),
    read({
      name: 'getAlertChannel',
      isManaged: true,
      path: channelPath,
      summary: 'Read an alert channel',
      permission: 'alerts:read',
      params: Schema.ChannelParams,
      query: none,
      answer,
      tag: contentTag,
      operation: async ({ channels: store }, input) => presentChannel(await findChannel(store, channelAt(input))),
    }),
    mutation({
      name: 'updateAlertChannel',
      method: 'PATCH',
      path: channelPath,
      summary: 'Change an alert channel',
      description:
        '`config` is merged field by field: null removes a field, and a masked secret keeps its stored value. If the address of a webhook changes, its secret must be sent again. Messages that wait are sent at once.',
      permission: 'alerts:write',
      params: Schema.ChannelParams,
      query: none,
      body: Schema.ChangedChannelBody,
      answer,
      prepare: ({ channels: store }, input) =>
        channels.changedAddressProblems(store, channelAt(input), patchOf(input.body)),
      operation: (stores, { prepared: addressProblems = [], ...input }) =>
        channels.update(stores, channelAt(input), { ...patchOf(input.body), addressProblems }),
      managed: managedChannel,
      present: presentChannel,
    }),
    mutation({
      name: 'deleteAlertChannel',
      method: 'DELETE',
      path: channelPath,
      summary: 'Delete an alert channel',
      description: 'Its messages that are not sent yet are deleted. A channel that a rule sends by is not deleted.',
      permission: 'alerts:write',
      params: Schema.ChannelParams,
      query: none,
      body: none,
      answer: { description: 'The id of the deleted alert channel.', schema: Schema.DeletedChannel },
      operation: (stores, input) => channels.remove(stores, channelAt(input)),
      removes: ({ id }) => ({ id }),
      present: ({ id }) => ({ id, object: 'organization.alert_channel.deleted', deleted: true }),
    }),
  ]
}

const managedChannel = ({ id }: { readonly id: string }): ManagedResource => ({ id, kind: 'alert_channel.updated' })

const patchOf = ({ name, paused, config }: Static<typeof Schema.ChangedChannelBody>) => ({
  ...(name !== undefined && { name }),
  ...(paused !== undefined && { isPaused: paused }),
  ...(config !== undefined && { config }),
})

type ChannelInput = {
  readonly actor: { readonly organization: { readonly id: string } }
  readonly params: { readonly channel_id: string }
}

export const channelAt = ({ actor, params }: ChannelInput): ChannelAt => ({
  organizationId: actor.organization.id,
  id: params.channel_id,
})

const secondsOrNull = (ms: number | null): number | null => (ms === null ? null : toUnixSeconds(ms))

const presentChannel = ({ health, ...channel }: WatchedChannel): Schema.AlertChannelBody => ({
  id: channel.id,
  object: 'organization.alert_channel',
  kind: channel.kind,
  name: channel.name,
  paused: channel.isPaused,
  config: { ...channel.config },
  created_at: toUnixSeconds(channel.createdAtMs),
  updated_at: toUnixSeconds(channel.updatedAtMs),
  last_sent_at: secondsOrNull(health.lastSentAtMs),
  last_error_at: secondsOrNull(health.lastErrorAtMs),
  last_error: health.lastError,
  waiting: health.waiting,
})
