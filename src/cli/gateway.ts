import { stringify } from 'yaml'
import { isRecord } from '../base/record.ts'
import type { Operations } from '../app/operations/operations.ts'
import { inOrganization, readArguments, required } from './arguments.ts'
import { UsageError, type Command, type CommandContext } from './command.ts'
import { gatewayDiffLines } from './gateway-diff.ts'
import { runOnServer, type Result } from './run-command.ts'
import { readYamlFile } from './yaml-file.ts'

const options = {
  org: { type: 'string' },
  plan: { type: 'boolean' },
  yes: { type: 'boolean' },
  json: { type: 'boolean' },
} as const

type Values = ReturnType<typeof readArguments<typeof options>>['values']
type Call = { readonly operations: Operations; readonly values: Values; readonly context: CommandContext }

export const gateway: Command = {
  summary: 'Show and change the gateway configuration',
  usage: `gatehouse gateway show [--org ID] [--json]
gatehouse gateway apply FILE [--plan] [--yes] [--org ID] [--json]

show prints the configuration as YAML, which apply takes again. apply makes the configuration what a file says: it shows
what would change, and changes nothing before that was confirmed. What the file leaves out has its default.
--org may be left out while there is only one.`,
  async run(context) {
    const { values, positionals } = readArguments(context.args, options, 2)
    const [verb = 'show', file] = positionals
    if (verb !== 'show' && verb !== 'apply') throw new UsageError(`There is no gateway ${verb}.`)
    const wanted = verb === 'apply' ? readConfiguration(required(file, 'FILE')) : undefined
    return runOnServer(context, values, ({ operations }) => {
      const call = { operations, values, context }
      return wanted ? apply(call, wanted) : show(call)
    })
  },
}

/** A configuration as `show` prints it, or as the API answers it. */
function readConfiguration(file: string): Record<string, unknown> {
  const whole = readYamlFile(file)
  if (!isRecord(whole)) throw new Error(`${file}: there must be a configuration.`)
  const { config } = whole
  return isRecord(config) ? config : whole
}

async function show({ operations, values }: Call): Promise<Result> {
  const answer = await operations['gateway.show'](inOrganization(values))
  return { answer, text: stringify(answer.config).trimEnd() }
}

async function apply({ operations, values, context }: Call, config: object): Promise<Result> {
  const where = inOrganization(values)
  const current = await operations['gateway.show'](where)
  const target = await operations['gateway.check']({ config })
  const lines = gatewayDiffLines(current.config, target)
  const plan = lines.length === 0 ? 'Nothing changes.' : lines.join('\n')
  const planned = { version: current.version, changes: lines }
  if (values.plan || (lines.length === 0 && !current.rolled_back)) return { answer: planned, text: plan }
  if (!values.yes) {
    context.remark(plan)
    if (!(await context.confirm('Save this configuration?')))
      return { answer: planned, text: 'Nothing was changed. Confirm with --yes.', isRefused: true }
  }
  // Against what the plan was made from: a save that came between is not overwritten.
  const answer = await operations['gateway.save']({ ...where, config, seen: current.updated_at })
  return { answer, text: `${plan}\nSaved as version ${answer.version}.` }
}
