import type { Clock } from '../../../base/clock.ts'
import { findRun } from '../../../domain/gate/gate-run.ts'
import type { GateRuns, GateStores } from '../../../domain/gate/runs.ts'
import { readGate, saveGate } from '../../../domain/gate/stored-settings.ts'
import { holds } from '../../../domain/identity/permissions.ts'
import { findPolicy } from '../../../domain/policy/mutations.ts'
import { none } from '../../resources/fields.ts'
import { listQuery, pageOf, presentList } from '../../resources/list.ts'
import type { Route } from '../../route.ts'
import type { AdminRoutes } from '../routes.ts'
import { ownerOf } from './case-routes.ts'
import { policyAt } from './decode.ts'
import type { RunDraftCases } from './draft-cases.ts'
import * as Schema from './gate-schema.ts'
import { PolicyParams } from './schema.ts'

const path = '/v1/organization/policies/{policy_id}/gate'
const one = `${path}/{gate_run_id}`
const answer = { description: 'The run.', schema: Schema.RunObject }

const mayNotRead = 'Requests were not replayed: the key that started the run lacks the permission content:read.'

export type GateRouteParts = {
  readonly runs: GateRuns
  readonly runDraftCases: RunDraftCases
}

/** Runs of the publish gate: whether a draft may be published. */
export function gateRoutes(
  { read, mutation }: AdminRoutes<GateStores>,
  { runs, runDraftCases }: GateRouteParts,
): Route[] {
  return [
    mutation({
      name: 'startGateRun',
      method: 'POST',
      path,
      summary: 'Run the publish gate on a draft',
      description:
        'Runs the cases of the policy on its draft, and starts the backtest that the gate asks for: poll the run until its state is not `running`. Requests are replayed only if the key has the permission `content:read`.',
      permission: 'policies:write',
      params: PolicyParams,
      query: none,
      body: Schema.StartRun,
      status: 201,
      answer,
      prepare: (reads, input) => runDraftCases(reads, policyAt(input, input.body.revision), input.actor.id),
      operation(stores, { prepared, ...input }) {
        const { actor, body } = input
        const outcome = prepared ?? { cases: [], results: [] }
        const replayProblem = holds(actor.permissions, 'content:read') ? null : mayNotRead
        return runs.start(stores, policyAt(input, body.revision), { startedBy: actor.id, outcome, replayProblem })
      },
      present: Schema.presentRun,
    }),
    read({
      name: 'listGateRuns',
      path,
      summary: 'List the runs of the publish gate on a policy',
      description: 'Runs are kept for 30 days.',
      permission: 'policies:read',
      params: PolicyParams,
      query: listQuery({}),
      answer: { description: 'A page of runs.', schema: Schema.RunList },
      async operation(stores, { actor, params, query }) {
        const { organizationId, policyId } = ownerOf(actor, params)
        const policy = await findPolicy(stores.policies, organizationId, policyId)
        const { items, ...page } = await stores.gate.listRuns(organizationId, policyId, pageOf(query))
        const reports = await Promise.all(items.map((run) => runs.report(stores, run, policy)))
        return presentList({ ...page, items: reports.map(Schema.presentRun) }, (run) => run)
      },
    }),
    read({
      name: 'getGateRun',
      path: one,
      summary: 'Read a run of the publish gate',
      permission: 'policies:read',
      params: Schema.RunParams,
      query: none,
      answer,
      async operation(stores, { actor, params }) {
        const owner = ownerOf(actor, params)
        const policy = await findPolicy(stores.policies, owner.organizationId, owner.policyId)
        const run = await findRun(stores.gate, { ...owner, id: params.gate_run_id })
        return Schema.presentRun(await runs.report(stores, run, policy))
      },
    }),
    mutation({
      name: 'approveGateRun',
      method: 'POST',
      path: `${one}/approve`,
      summary: 'Approve a draft that was run',
      description:
        'Once by each person, and not by the last author of the draft. Responds with 409 `gate_stale` if the draft has changed since.',
      permission: 'policies:publish',
      params: Schema.RunParams,
      query: none,
      body: none,
      answer,
      operation: (stores, { actor, params }) =>
        runs.approve(stores, { ...ownerOf(actor, params), id: params.gate_run_id }, actor.id),
      present: Schema.presentRun,
    }),
  ]
}

const gateAnswer = { description: 'The gate.', schema: Schema.GateObject }

/** Settings of the gate: of the organization, and what a policy adds. */
export function gateSettingsRoutes({ read, mutation }: AdminRoutes<GateStores>, clock: Clock): Route[] {
  return [
    read({
      name: 'getPublishGate',
      path: '/v1/organization/publish_gate',
      summary: 'Read the publish gate',
      description: 'What stands between the draft of a policy and its publication.',
      permission: 'policies:read',
      params: none,
      query: none,
      answer: gateAnswer,
      operation: async ({ gate }, { actor }) =>
        Schema.presentGate(await readGate(gate, { organizationId: actor.organization.id, policyId: null })),
    }),
    mutation({
      name: 'savePublishGate',
      method: 'PUT',
      path: '/v1/organization/publish_gate',
      summary: 'Set the publish gate',
      description: 'Replaces the settings of the organization. Fields that are left out get their defaults.',
      permission: 'policies:override',
      params: none,
      query: none,
      body: Schema.SaveGate,
      answer: gateAnswer,
      operation: ({ gate }, { actor, body: { revision, ...settings } }) =>
        saveGate(gate, { organizationId: actor.organization.id, policyId: null }, { revision, settings, clock }),
      present: Schema.presentGate,
    }),
    read({
      name: 'getPolicyPublishGate',
      path: '/v1/organization/policies/{policy_id}/publish_gate',
      summary: 'Read the publish gate of a policy',
      permission: 'policies:read',
      params: PolicyParams,
      query: none,
      answer: gateAnswer,
      async operation({ gate, policies }, { actor, params }) {
        const owner = ownerOf(actor, params)
        await findPolicy(policies, owner.organizationId, owner.policyId)
        return Schema.presentGate(await readGate(gate, owner))
      },
    }),
    mutation({
      name: 'savePolicyPublishGate',
      method: 'PUT',
      path: '/v1/organization/policies/{policy_id}/publish_gate',
      summary: 'Tighten the publish gate for a policy',
      description:
        'Replaces what the policy adds to the gate of the organization. A field counts only where it is stricter.',
      permission: 'policies:override',
      params: PolicyParams,
      query: none,
      body: Schema.SaveGate,
      answer: gateAnswer,
      async operation({ gate, policies }, { actor, params, body: { revision, ...settings } }) {
        const owner = ownerOf(actor, params)
        await findPolicy(policies, owner.organizationId, owner.policyId)
        return saveGate(gate, owner, { revision, settings, clock })
      },
      present: Schema.presentGate,
    }),
  ]
}
