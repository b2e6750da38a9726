import type { ApiClient } from '../app/client/api-client.ts'
import { messageOf } from '../base/fault.ts'
import { readArguments, required } from './arguments.ts'
import { FileErrors, readResources } from './as-code/files.ts'
import { takeLease, type HeldLease } from './as-code/lease.ts'
import { choicesOf, planResources } from './as-code/plan.ts'
import { openSecrets, secretsText, type SecretsOutput } from './as-code/secrets-file.ts'
import { claimingClient, isIdle, planJson, planText, type Step } from './as-code/step.ts'
import { failedExitCode, hasFailedMust, reportJson, reportText } from './cases/report.ts'
import { runFileCases } from './cases/run-file-cases.ts'
import type { Command, CommandContext } from './command.ts'
import { runOnServer, type Result } from './run-on-server.ts'
import { oneLine } from './table.ts'

const options = {
  file: { type: 'string', short: 'f' },
  'secrets-file': { type: 'string' },
  'update-secrets': { type: 'boolean' },
  'take-over': { type: 'boolean' },
  prune: { type: 'boolean' },
  override: { type: 'string' },
  yes: { type: 'boolean' },
  org: { type: 'string' },
  json: { type: 'boolean' },
} as const

type Values = ReturnType<typeof readArguments<typeof options>>['values']

export const apply: Command = {
  summary: 'Create and change resources as files describe them',
  isRemote: true,
  usage: `gatehouse apply -f FOLDER|FILE [--secrets-file FILE] [--update-secrets] [--take-over] [--prune] [--override REASON] [--yes] [--org ID] [--json]

Reads every .yaml file of the folder, shows the changes and asks for confirmation; --yes does not ask. All files are checked
before the first change. The first change that fails ends the command; a second run continues. --file is the same as -f.
Cases are run first, without a judge model: if one of weight must fails, nothing is changed and the exit code is 4.
A policy that has not passed the publish gate is not published; --override publishes past it, with a reason of at least ten
characters for the audit log.
Only one apply changes an organization at a time; a second one waits for it.
Secrets of keys that are created are printed once; --secrets-file appends them to a file that only its owner can read, one
JSON object per line. Secrets of existing export sinks and upstreams stay as they are; --update-secrets sends them again.
Files with an owner mark their resources as managed by it. --take-over takes resources over from other owners. --prune
deletes the resources of the owner that no file describes: policies, export sinks, models and upstreams are deleted, keys
are revoked, projects are archived.
--org may be left out while there is only one organization.`,
  async run(context) {
    const { values } = readArguments(context.args, options)
    const folder = required(values.file, '-f FOLDER')
    const resources = readResources(folder)
    const tested = await runFileCases(resources, { judge: 'skip' })
    if (hasFailedMust(tested)) {
      const error = 'Nothing was changed, because a case of weight must failed.'
      if (values.json) context.printData(JSON.stringify({ ...reportJson(tested), error }, null, 2))
      else context.printError(`${reportText(tested)}\n${error}`)
      return failedExitCode
    }
    return runOnServer(context, values, async ({ client, clock }) => {
      const plan = (): Promise<readonly Step[]> =>
        planResources({ client, resources, env: context.env, nowMs: clock.nowMs(), ...choicesOf(values) })
      // Nobody else has to wait while a person reads the plan.
      const shown = values.yes ? undefined : await plan()
      if (shown?.every(isIdle)) return { json: planJson(shown), text: planText(shown) }
      if (shown) requirePrepared(shown)
      // A file that cannot be opened is reported before the question.
      using _file = shown && openSecrets(values['secrets-file'], folder)
      if (shown && !(await confirmed(context, shown))) return unchanged(shown, 'Confirm with --yes.')
      await using lease = await takeLease({ client, clock, onWait: () => announceWait(context, values) })
      const steps = await plan()
      if (shown && planText(steps) !== planText(shown))
        return unchanged(steps, 'The organization has changed since the plan was shown. Run the command again.')
      if (steps.every(isIdle)) return { json: planJson(steps), text: planText(steps) }
      requirePrepared(steps)
      using secrets = openSecrets(values['secrets-file'], folder)
      const claiming = claimingClient(client, { resources, ...choicesOf(values) })
      return await applySteps({ client: claiming, lease, steps, secrets, values })
    })
  },
}

const unchanged = (steps: readonly Step[], reason: string): Result => ({
  json: planJson(steps),
  text: `Nothing was changed. ${reason}`,
  isFailed: true,
})

function announceWait({ printError }: CommandContext, { json }: Values): void {
  const warning = 'Another apply is changing this organization. Waiting until it ends.'
  printError(json ? JSON.stringify({ warning }) : warning)
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
  readonly lease: HeldLease
  readonly steps: readonly Step[]
  readonly secrets: SecretsOutput
  readonly values: Values
}

type Done = { readonly kind: string; readonly name: string; readonly id: string; readonly action: string }

/** Applies one step after the other. What was done is part of the result, also after a failure. */
async function applySteps({ client, lease, steps, secrets, values }: Application): Promise<Result> {
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
      await lease.extend()
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
