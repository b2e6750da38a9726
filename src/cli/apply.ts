import type { ApiClient } from '../app/api-client.ts'
import { messageOf } from '../base/fault.ts'
import { readArguments, required } from './arguments.ts'
import { FileErrors, readResources } from './as-code/files.ts'
import { choicesOf, planResources } from './as-code/plan.ts'
import { openSecrets, secretsText, type SecretsOutput } from './as-code/secrets-file.ts'
import { claimingClient, isIdle, planJson, planText, type Step } from './as-code/step.ts'
import type { Command, CommandContext } from './command.ts'
import { runOnServer, type Result } from './run-on-server.ts'
import { oneLine } from './table.ts'

const options = {
  file: { type: 'string', short: 'f' },
  'secrets-file': { type: 'string' },
  'update-secrets': { type: 'boolean' },
  'take-over': { type: 'boolean' },
  prune: { type: 'boolean' },
  yes: { type: 'boolean' },
  org: { type: 'string' },
  json: { type: 'boolean' },
} as const

type Values = ReturnType<typeof readArguments<typeof options>>['values']

export const apply: Command = {
  summary: 'Create and change resources as files describe them',
  usage: `gatehouse apply -f FOLDER|FILE [--secrets-file FILE] [--update-secrets] [--take-over] [--prune] [--yes] [--org ID] [--json]

Reads every .yaml file of the folder, shows the changes and asks for confirmation; --yes does not ask. All files are checked
before the first change. The first change that fails ends the command; a second run continues. --file is the same as -f.
Secrets of keys that are created are printed once; --secrets-file appends them to a file that only its owner can read, one
JSON object per line. Secrets of existing export sinks stay as they are; --update-secrets sends them again.
Files with an owner mark their resources as managed by it. --take-over takes resources over from other owners. --prune
deletes the resources of the owner that no file describes: policies and export sinks are deleted, keys are revoked,
projects are archived.
--org may be left out while there is only one organization.`,
  async run(context) {
    const { values } = readArguments(context.args, options)
    const folder = required(values.file, '-f FOLDER')
    const resources = readResources(folder)
    return runOnServer(context, values, async ({ client, clock }) => {
      const input = { client, resources, env: context.env, nowMs: clock.nowMs() }
      const steps = await planResources({ ...input, ...choicesOf(values) })
      if (steps.every(isIdle)) return { json: planJson(steps), text: planText(steps) }
      requirePrepared(steps)
      using secrets = openSecrets(values['secrets-file'], folder)
      if (!values.yes && !(await confirmed(context, steps)))
        return { json: planJson(steps), text: 'Nothing was changed. Confirm with --yes.', isFailed: true }
      const claiming = claimingClient(client, { resources, ...choicesOf(values) })
      return await applySteps({ client: claiming, steps, secrets, values })
    })
  },
}

/** Reports everything that would fail for lack of a secret, before the first change. */
function requirePrepared(steps: readonly Step[]): void {
  const problems = steps
    .filter((step) => !isIdle(step))
    .flatMap(({ prepare }) => {
      try {
        prepare?.()
        return []
      } catch (error) {
        return [messageOf(error)]
      }
    })
  if (problems.length > 0) throw new FileErrors(problems)
}

function confirmed(context: CommandContext, steps: readonly Step[]): Promise<boolean> {
  context.printError(planText(steps))
  return context.confirm('Apply this plan?')
}

type Application = {
  readonly client: ApiClient
  readonly steps: readonly Step[]
  readonly secrets: SecretsOutput
  readonly values: Values
}

type Done = { readonly kind: string; readonly name: string; readonly id: string; readonly action: string }

/** Applies one step after the other. What was done is part of the result, also after a failure. */
async function applySteps({ client, steps, secrets, values }: Application): Promise<Result> {
  const done: Done[] = []
  const warnings: string[] = []
  const changes = steps.filter((step) => !isIdle(step))
  const resultOf = (end: string, failure?: string): Result => ({
    json: { ...planJson(steps), done, secrets: secrets.shown(), error: failure ?? null },
    text: [...(values.yes || failure ? [planText(steps)] : []), ...secretsText(secrets), end].join('\n'),
    warnings: [...warnings, ...(failure === undefined ? [] : [failure])].map(oneLine),
    isFailed: failure !== undefined,
  })
  for (const step of changes) {
    const { kind, name, action } = step
    try {
      const outcome = await step.run(client, secrets.keep)
      warnings.push(...(outcome.warnings ?? []))
      done.push({ kind, name, id: outcome.id, action })
    } catch (error) {
      const title = [action, kind, name].filter((word) => word !== '').join(' ')
      return resultOf(doneText(done, changes.length), `${title}: ${messageOf(error)}`)
    }
  }
  return resultOf('Done.')
}

const doneText = (done: readonly Done[], all: number): string =>
  `${done.length} of ${all} changes were made. Run the command again after the cause is removed: it continues.`
