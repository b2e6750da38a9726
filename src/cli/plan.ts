import { readArguments, required } from './arguments.ts'
import { readResources } from './as-code/files.ts'
import { choicesOf, planResources } from './as-code/plan.ts'
import { isIdle, planJson, planText } from './as-code/step.ts'
import type { Command } from './command.ts'
import { runOnServer } from './run-on-server.ts'

const options = {
  file: { type: 'string', short: 'f' },
  'update-secrets': { type: 'boolean' },
  'take-over': { type: 'boolean' },
  prune: { type: 'boolean' },
  org: { type: 'string' },
  json: { type: 'boolean' },
} as const

export const plan: Command = {
  summary: 'Show what apply would change',
  isRemote: true,
  usage: `gatehouse plan -f FOLDER|FILE [--update-secrets] [--take-over] [--prune] [--org ID] [--json]

Compares the files with the organization and changes nothing. Exits with 0 if nothing would change, 2 if something would,
and 1 on an error. --file is the same as -f. Secrets of existing export sinks are not compared; --update-secrets plans to
send them again. --take-over plans to take resources over from other owners, and --prune to delete those of the owner of
the files that no file describes. --org may be left out while there is only one organization.`,
  errorExitCode: 1,
  async run(context) {
    const { values } = readArguments(context.args, options)
    const resources = readResources(required(values.file, '-f FOLDER'))
    let hasChanges = false
    const status = await runOnServer(context, values, async ({ client, clock }) => {
      const input = { client, resources, env: context.env, nowMs: clock.nowMs() }
      const steps = await planResources({ ...input, ...choicesOf(values) })
      hasChanges = !steps.every(isIdle)
      return { json: planJson(steps), text: planText(steps) }
    })
    return hasChanges ? 2 : status
  },
}
