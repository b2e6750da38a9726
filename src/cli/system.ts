import type { SystemBody } from '../http/admin/system/schema.ts'
import { readArguments } from './arguments.ts'
import { unknownSubcommand, type Command } from './command.ts'
import { runOnServer } from './run-on-server.ts'
import { dateOf, table } from './table.ts'

const options = { all: { type: 'boolean' }, org: { type: 'string' }, json: { type: 'boolean' } } as const

export const system: Command = {
  summary: 'Show the running server: its nodes, its settings and where they come from',
  isRemote: true,
  usage: `gatehouse system show [--all] [--org ID] [--json]

Shows the settings that differ from their default, or all of them with --all, without secrets. It needs a running server;
gatehouse doctor checks the installation without one. --org may be left out while there is only one organization.`,
  async run(context) {
    const { values, positionals } = readArguments(context.args, options, 1)
    const [verb = 'show'] = positionals
    if (verb !== 'show') throw unknownSubcommand('system', verb)
    return runOnServer(context, values, async ({ client }) => {
      const response = await client.get<SystemBody>('/v1/organization/system')
      return { json: response, text: describe(response, values.all ?? false) }
    })
  },
}

function describe({ node, nodes, settings, findings, ...server }: SystemBody, withDefaults: boolean): string {
  const rows = settings
    .filter(({ origin }) => withDefaults || origin !== 'default')
    .map(({ key, value, is_hidden: isHidden, origin, variable }) => [
      key,
      isHidden ? '(hidden)' : Array.isArray(value) ? value.join(', ') : String(value ?? '-'),
      variable ?? origin,
    ])
  const problems = findings
    .filter(({ state }) => state !== 'ok')
    .map(({ part, state, message, fix }) => `${state}  ${part}: ${message}${fix === null ? '' : `\n       ${fix}`}`)
  return [
    `version ${server.version}, Node ${server.runtime}, since ${dateOf(node.started_at)} on ${node.host}`,
    `storage ${server.storage}, ${nodes.count === 1 ? 'one node' : `${nodes.count} nodes`}, limits ${server.limits}`,
    `configuration ${server.configuration_file ?? 'without a file'}`,
    ...(problems.length === 0 ? [] : ['', ...problems]),
    '',
    table(['SETTING', 'VALUE', 'FROM'], rows),
  ].join('\n')
}
