import { ApiError, apiPath, type ApiClient } from '../../app/client/api-client.ts'
import type { GateRunBody } from '../../http/admin/policies/gate-schema.ts'
import { required } from '../arguments.ts'
import type { Result } from '../run-on-server.ts'
import { table } from '../table.ts'
import { awaitRun } from './await-gate-run.ts'
import type { Verb } from './call.ts'
import { changePolicy, revisionOf, type ChangedPolicy } from './change.ts'

const pathOf = (policyId: string): string => apiPath`/v1/organization/policies/${policyId}/gate`

type Waiting = { readonly progress?: ((text: string) => void) | undefined }

/** Starts a run and waits for its backtest. */
async function runGate(
  client: ApiClient,
  { id, revision }: { readonly id: string; readonly revision: number },
  { progress }: Waiting = {},
): Promise<GateRunBody> {
  const run = await client.post<GateRunBody>(pathOf(id), { revision })
  return awaitRun(run, () => client.get<GateRunBody>(`${pathOf(id)}/${encodeURIComponent(run.id)}`), progress)
}

type Publication = {
  readonly id: string
  readonly revision: number
  readonly reason?: string | undefined
  readonly gateRun?: string | undefined
  readonly override?: string | undefined
  readonly rolloutPercent?: number | undefined
}

/** Publishes a draft. If the gate requires a run and there is none of this draft, it runs the gate first. */
export async function publishDraft(
  client: ApiClient,
  { id, revision, reason, gateRun, override, rolloutPercent }: Publication,
  waiting: Waiting = {},
): Promise<ChangedPolicy> {
  const publish = (run: string | undefined): Promise<ChangedPolicy> => {
    const body = {
      revision,
      ...(reason !== undefined && { reason }),
      ...(run !== undefined && { gate_run: run }),
      ...(rolloutPercent !== undefined && { rollout_percent: rolloutPercent }),
      ...(override !== undefined && { override: { reason: override } }),
    }
    return changePolicy(client, { method: 'POST', id, action: 'publish', body })
  }
  try {
    return await publish(gateRun)
  } catch (error) {
    if (!(error instanceof ApiError) || error.code !== 'gate_not_passed' || gateRun !== undefined) throw error
    const [latest] = (await client.list<GateRunBody>(pathOf(id), {}, 1)).data
    if (latest?.stale === false) throw error
    return publish((await runGate(client, { id, revision }, waiting)).id)
  }
}

/** Runs the publish gate on a draft, or shows a run. */
export const gate: Verb = async (call) => {
  const { connection, id, values, context } = call
  const { client } = connection
  const named = values['gate-run']
  const run =
    named === undefined
      ? await runGate(client, { id, revision: await revisionOf(call) }, { progress: context.progress })
      : await client.get<GateRunBody>(`${pathOf(id)}/${encodeURIComponent(named)}`)
  return resultOf(run)
}

/** Approves the draft of another person. */
export const approve: Verb = async ({ connection: { client }, id, values }) => {
  const run = required(values['gate-run'], '--gate-run')
  return resultOf(await client.post<GateRunBody>(`${pathOf(id)}/${encodeURIComponent(run)}/approve`))
}

function resultOf(run: GateRunBody): Result {
  const rows = run.checks.map(({ kind, level, state, message }) => [kind.replaceAll('_', ' '), level, state, message])
  const examples = run.checks.flatMap(({ kind, examples: ids }) =>
    ids.length === 0 ? [] : ['', `${kind.replaceAll('_', ' ')}:`, ...ids],
  )
  const isOpen = run.state === 'failed' || run.state === 'insufficient'
  const stale = run.stale ? ' The draft has changed since, or the run is older than a day: run the gate again.' : ''
  const title = `${run.id}: ${run.state}, revision ${run.revision}.${stale}`
  const body = rows.length === 0 ? ['No check applies.'] : [table(['CHECK', 'LEVEL', 'STATE', 'RESULT'], rows)]
  return { json: run, text: [title, '', ...body, ...examples].join('\n'), exitCode: isOpen ? 4 : 0 }
}
