import type { ServedModelsBody } from '../http/admin/models/schema.ts'
import { readArguments } from './arguments.ts'
import { unknownSubcommand, type Command } from './command.ts'
import { runOnServer } from './run-on-server.ts'
import { table } from './table.ts'

const options = { org: { type: 'string' }, json: { type: 'boolean' } } as const

export const models: Command = {
  summary: 'List the models of the catalogue',
  isRemote: true,
  usage: `gatehouse models list [--org ID] [--json]

Lists the models with their targets in the order in which they are tried, their prices in USD per million tokens, and where
each is defined. It needs a running server. --org may be left out while there is only one organization.`,
  async run(context) {
    const { values, positionals } = readArguments(context.args, options, 1)
    const [verb = 'list'] = positionals
    if (verb !== 'list') throw unknownSubcommand('models', verb)
    return runOnServer(context, values, async ({ client }) => {
      const response = await client.get<ServedModelsBody>('/v1/organization/models')
      return { json: response, text: describe(response) }
    })
  },
}

function describe({ data }: ServedModelsBody): string {
  const rows = data.map(({ name, targets, context_tokens: context, price, defined_in: from }) => [
    name,
    targets.map(({ upstream, model }) => (model === name ? upstream : `${upstream}/${model}`)).join(', '),
    String(context),
    String(price.input),
    String(price.output),
    from.key ?? 'built in',
  ])
  return table(['MODEL', 'TARGETS', 'CONTEXT', 'INPUT', 'OUTPUT', 'DEFINED IN'], rows)
}
