import type { Clock } from '../../base/clock.ts'
import { Fault } from '../../base/fault.ts'
import type { Ids } from '../../base/ids.ts'
import {
  changedFields,
  isMask,
  merged,
  secretsIn,
  valueAt,
  withMasks,
  withoutMasks,
  withValues,
  type Configuration,
} from '../audit/export/configuration.ts'
import type { ConfigProblem, FindSinkAddressProblem, SinkAddress } from '../audit/export/sink.ts'
import { changedValues, type WithAuditRecord } from '../mutations/audit-log.ts'
import type { AlertChannel, AlertChannelStore, ChannelKind, ChannelKindName, WatchedChannel } from './channel.ts'
import type { AlertRuleStore } from './rule.ts'
import { invalidAlertField } from './invalid-field.ts'

export type ChannelParts = {
  readonly kinds: readonly ChannelKind[]
  readonly findAddressProblem: FindSinkAddressProblem
  readonly ids: Ids
  readonly clock: Clock
}

export type NewChannel = {
  readonly kind: ChannelKindName
  readonly name: string
  readonly isPaused: boolean
  readonly config: Configuration
}

export type ChannelPatch = Partial<Omit<NewChannel, 'kind'>>

/** The result of `newAddressProblems` or `changedAddressProblems` for the same input. */
type AddressChecked = { readonly addressProblems: readonly ConfigProblem[] }

type ChannelStores = { readonly channels: AlertChannelStore; readonly rules: Pick<AlertRuleStore, 'namesOfChannel'> }

export type ChannelAt = { readonly organizationId: string; readonly id: string }

export type ChannelAdministration = ReturnType<typeof createChannelAdministration>

const maxChannels = 200

/** Every mutation of a channel, in the transaction of the caller. Addresses are checked before it, by the network. */
export function createChannelAdministration({ kinds, findAddressProblem, ids, clock }: ChannelParts) {
  const kindOf = (name: ChannelKindName): ChannelKind => {
    const kind = kinds.find((each) => each.kind === name)
    if (!kind) throw invalidAlertField('kind', `must be one of ${kinds.map((each) => each.kind).join(', ')}`)
    return kind
  }
  const problemsAt = async (addresses: readonly SinkAddress[]): Promise<readonly ConfigProblem[]> => {
    const find = async ({ path, url }: SinkAddress): Promise<ConfigProblem[]> => {
      const message = await findAddressProblem(url)
      return message === undefined ? [] : [{ path, message }]
    }
    return (await Promise.all(addresses.map(find))).flat()
  }

  return {
    newAddressProblems: ({ kind, config }: Pick<NewChannel, 'kind' | 'config'>) =>
      problemsAt(kindOf(kind).addressesIn(config)),

    /** Problems of the addresses that a patch changes. */
    async changedAddressProblems(
      store: Pick<AlertChannelStore, 'find'>,
      at: ChannelAt,
      { config }: ChannelPatch,
    ): Promise<readonly ConfigProblem[]> {
      const channel = config && (await store.find(at.organizationId, at.id))
      if (!channel) return []
      const { addressesIn } = kindOf(channel.kind)
      const before = new Set(addressesIn(channel.config).map(({ url }) => url.href))
      return problemsAt(addressesIn(merged(channel.config, config)).filter(({ url }) => !before.has(url.href)))
    },

    async create(
      { channels }: Pick<ChannelStores, 'channels'>,
      organizationId: string,
      { addressProblems, kind: name, config: given, ...fields }: NewChannel & AddressChecked,
    ): Promise<WithAuditRecord<WatchedChannel>> {
      const kind = kindOf(name)
      requireValid(kind, given, addressProblems)
      if ((await channels.count(organizationId)) >= maxChannels)
        throw new Fault('conflict', 'alert_limit_reached', `An organization may have ${maxChannels} alert channels.`)
      const nowMs = clock.nowMs()
      const secrets = secretsIn(given, kind.secretFields)
      const config = withMasks(given, secrets)
      const times = { version: 1, createdAtMs: nowMs, updatedAtMs: nowMs }
      const channel: AlertChannel = { id: ids('chan'), organizationId, kind: name, ...fields, config, ...times }
      await channels.insert(channel, secrets)
      const value = await findChannel(channels, channel)
      return {
        value,
        record: { kind: 'alert_channel.created', resourceId: channel.id, details: auditedFields(channel) },
      }
    },

    async update(
      { channels }: Pick<ChannelStores, 'channels'>,
      at: ChannelAt,
      { addressProblems, ...patch }: ChannelPatch & AddressChecked,
    ): Promise<WithAuditRecord<WatchedChannel>> {
      const channel = await findChannel(channels, at)
      const kind = kindOf(channel.kind)
      const secretsBefore = await channels.secretsOf(channel)
      const before = withValues(channel.config, secretsBefore)
      const change = withoutMasks(patch.config ?? {}, channel.config, kind.secretFields)
      const config = merged(before, change)
      requireValid(kind, config, addressProblems)
      requireSecretsAgain(kind, { before, change, after: config })
      const secrets = secretsIn(config, kind.secretFields)
      const after: AlertChannel = {
        ...channel,
        name: patch.name ?? channel.name,
        isPaused: patch.isPaused ?? channel.isPaused,
        config: withMasks(config, secrets),
        version: channel.version + 1,
        updatedAtMs: clock.nowMs(),
      }
      const replaced = Object.keys({ ...secretsBefore, ...secrets }).filter(
        (field) => secretsBefore[field] !== secrets[field],
      )
      const details = {
        ...changedValues(auditedFields(channel), auditedFields(after)),
        ...(replaced.length > 0 && { secrets: replaced }),
      }
      if (Object.keys(details).length === 0) return { value: channel }
      if (!(await channels.replace(after, secrets))) throw changedMeanwhile(channel.id)
      const value = await findChannel(channels, at)
      return { value, record: { kind: 'alert_channel.updated', resourceId: channel.id, details } }
    },

    async remove({ channels, rules }: ChannelStores, at: ChannelAt): Promise<WithAuditRecord<AlertChannel>> {
      const channel = await findChannel(channels, at)
      const users = await rules.namesOfChannel(at.organizationId, at.id)
      if (users.length > 0) {
        const message = `Alert rules send by this channel: ${users.join(', ')}. Remove it from them first.`
        throw new Fault('conflict', 'invalid_state', message)
      }
      if (!(await channels.remove(channel))) throw changedMeanwhile(channel.id)
      const details = { kind: channel.kind, name: channel.name }
      return { value: channel, record: { kind: 'alert_channel.deleted', resourceId: channel.id, details } }
    },
  }
}

/** Finds a channel. The error is the same for an unknown id and for a channel of another organization. */
export async function findChannel(
  store: Pick<AlertChannelStore, 'find'>,
  { organizationId, id }: ChannelAt,
): Promise<WatchedChannel> {
  const channel = await store.find(organizationId, id)
  if (!channel) throw new Fault('not_found', 'not_found', `There is no alert channel ${id}.`)
  return channel
}

function requireValid(kind: ChannelKind, config: Configuration, addressProblems: readonly ConfigProblem[]): void {
  const masked = kind.secretFields.find((field) => isMask(valueAt(config, field)))
  if (masked !== undefined)
    throw invalidAlertField(`config.${masked}`, 'is the mask of another secret; send the secret itself')
  const [problem] = [...kind.problemsOf(config), ...addressProblems]
  if (problem) throw invalidAlertField(problem.path === '' ? 'config' : `config.${problem.path}`, problem.message)
}

type Change = { readonly before: Configuration; readonly change: Configuration; readonly after: Configuration }

/** Otherwise somebody who cannot read a signing key could have it used for an address of their own. */
function requireSecretsAgain(kind: ChannelKind, { before, change, after }: Change): void {
  const [moved] = changedFields(before, after, kind.destinationFields)
  const kept = kind.secretFields.find(
    (field) => valueAt(after, field) !== undefined && valueAt(change, field) === undefined,
  )
  if (moved === undefined || kept === undefined) return
  throw invalidAlertField(`config.${kept}`, `must be sent again, since ${moved} was changed`)
}

const changedMeanwhile = (id: string): Fault =>
  new Fault(
    'conflict',
    'invalid_state',
    `The alert channel ${id} was changed at the same time; send the request again.`,
  )

const auditedFields = ({ kind, name, isPaused, config }: AlertChannel) => ({ kind, name, paused: isPaused, config })
