import type { ServedModelsBody } from '../http/admin/models/schema.ts'
import { readArguments } from './arguments.ts'
import { unknownSubcommand, type Command } from './command.ts'
import { entryWork, isEntryVerb } from './entry-verbs.ts'
import { runOnServer } from './run-on-server.ts'
import { table } from './table.ts'

const options = {
  org: { type: 'string' },
  file: { type: 'string', short: 'f' },
  json: { type: 'boolean' },
} as const

export const models: Command = {
  summary: 'List, add, change and pause models',
  isRemote: true,
  usage: `gatehouse models list [--org ID] [--json]
gatehouse models create -f FILE [--org ID] [--json]
gatehouse models update NAME -f FILE [--org ID] [--json]
gatehouse models show|pause|resume|delete NAME [--org ID] [--json]

list shows the models with their targets in the order in which they are tried, their prices in USD per million tokens, and where
each is defined. FILE is YAML or JSON with the fields of a model in the configuration file; --file is the same as -f. update
changes the fields that the file has. Models of the configuration can only be changed there. It needs a running server. --org may be left out while there is only one organization.`,
  async run(context) {
    const { values, positionals } = readArguments(context.args, options, 2)
    const [verb = 'list', name] = positionals
    const { file } = values
    if (isEntryVerb(verb))
      return runOnServer(context, values, entryWork(verb, { what: 'model', name, file, env: context.env }))
    if (verb !== 'list') throw unknownSubcommand('models', verb)
    return runOnServer(context, values, async ({ client }) => {
      const response = await client.get<ServedModelsBody>('/v1/organization/models')
      return { json: response, text: describe(response) }
    })
  },
}

function describe({ data }: ServedModelsBody): string {
  const rows = data.map(({ name, targets, context_tokens: context, price, paused, defined_in: from }) => [
    name,
    targets.map(({ upstream, model }) => (model === name ? upstream : `${upstream}/${model}`)).join(', '),
    String(context),
    String(price.input),
    String(price.output),
    from.key ?? (from.source === 'organization' ? `this organization${paused ? ', paused' : ''}` : 'built in'),
  ])
  return table(['MODEL', 'TARGETS', 'CONTEXT', 'INPUT', 'OUTPUT', 'DEFINED IN'], rows)
}
