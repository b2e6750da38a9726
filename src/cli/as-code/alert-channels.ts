import { apiPath } from '../../app/client/api-client.ts'
import type { FileProblem } from '../../app/client/file-problems.ts'
import { channelFileKind, type ChannelFileEntry } from '../../app/client/resource-files.ts'
import type { AlertChannelBody } from '../../http/admin/alerts/channel-schema.ts'
import { alertChannelsPath } from '../alerts.ts'
import { leafDifferences, leavesOf } from '../leaf-diff.ts'
import type { Located } from './files.ts'
import { secretValue, shownConfig, withLeaves, withoutSecrets } from './sinks.ts'
import { actionOf, matchOf, ownerDifference, reportDuplicates, type Planning, type Step } from './step.ts'

/** A channel that rules refer to. Its id is known once it exists. */
type PlannedChannel = { readonly name: string; id: string | undefined }

export type PlannedChannels = {
  readonly steps: readonly Step[]
  /** The channel that a name or an id in an entry means, in the files first. Reports one that is missing or ambiguous. */
  find(entry: Located<unknown>, path: FileProblem['path'], reference: string): PlannedChannel | undefined
  /** The names or ids that files write for these ids. */
  nameOf(id: string): string
}

export function planAlertChannels(planning: Planning): PlannedChannels {
  const { resources, state } = planning
  const planned = resources.alert_channels.map((entry) => ({ entry, ...planChannel(planning, entry) }))
  reportDuplicates(
    planning,
    planned.map(({ entry, channel: { id, name } }) => ({ entry, id, name: [name] })),
  )
  const described = planned.map(({ channel }) => channel)
  const known = new Set(described.map(({ id }) => id))
  const others = state.alertChannels.filter(({ id }) => !known.has(id)).map(({ id, name }) => ({ id, name }))
  const all: readonly PlannedChannel[] = [...described, ...others]
  return {
    steps: planned.map(({ step }) => step),
    find(entry, path, reference) {
      const named = described.filter(({ name }) => name === reference)
      const meant = named.length > 0 ? named : all.filter(({ id, name }) => id === reference || name === reference)
      if (meant.length === 1) return meant[0]
      const problem = meant.length === 0 ? 'there is no' : `${meant.length} resources have the name of the`
      planning.report(entry, { path, message: `channels: ${problem} alert channel ${reference}` })
      return undefined
    },
    nameOf: (id) => all.find((channel) => channel.id === id)?.name ?? id,
  }
}

function planChannel(planning: Planning, entry: Located<ChannelFileEntry>): { step: Step; channel: PlannedChannel } {
  const { kind: kindName, name, paused = false } = entry.value
  const kind = channelFileKind(kindName)
  const current = matchOf(planning, entry, {
    kind: 'alert channel',
    all: planning.state.alertChannels,
    entries: planning.resources.alert_channels,
    named: (candidates) => candidates.filter((channel) => channel.name === name),
  })
  if (current && current.kind !== kindName) {
    const message = `kind: cannot be changed from ${current.kind}; use another name`
    planning.report(entry, { path: ['kind'], message })
  }
  const config = shownConfig(planning, entry, kind)
  const secrets = kind.secretFields.filter((field) => leavesOf(entry.value.config).has(field))
  const before = current && { name: current.name, paused: current.paused, config: withoutSecrets(current, kind) }
  const own = leafDifferences(before ?? {}, { name, paused, config })
  const isMoved = own.some(({ field }) => kind.destinationFields.includes(field.replace(/^config\./, '')))
  const stored = leavesOf(current?.config ?? {})
  const sent = secrets.filter((field) => !stored.has(field) || isMoved || planning.updatesSecrets)
  const others = [...own, ...sent.map((field) => ({ field: `config.${field}`, before: undefined, after: '(secret)' }))]
  const differences = [...others, ...ownerDifference(planning, entry, { current, others })]
  const values = () => new Map(sent.map((field) => [field, secretValue(planning, entry, field)]))
  const channel: PlannedChannel = { name, id: current?.id }
  const run: Step['run'] = async (client) => {
    if (!current) {
      const body = { kind: kindName, name, paused, config: withLeaves(config, values()) }
      channel.id = (await client.post<AlertChannelBody>(alertChannelsPath, body)).id
      return { id: channel.id }
    }
    const gone = [...stored.keys()].filter((field) => !leavesOf(config).has(field) && !secrets.includes(field))
    const removed = new Map(gone.map((field) => [field, null]))
    const body = { name, paused, config: withLeaves(withLeaves(config, removed), values()) }
    await client.request('PATCH', apiPath`/v1/organization/alert_channels/${current.id}`, { body })
    return { id: current.id }
  }
  const action = actionOf(current, differences)
  const step: Step = {
    kind: 'alert channel',
    name,
    id: current?.id,
    action,
    differences,
    prepare: () => void values(),
    run,
  }
  return { step, channel }
}
