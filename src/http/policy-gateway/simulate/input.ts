import type { Simulate, SimulationInput, TriedPolicy } from '../../../domain/evaluation/simulate.ts'
import { contentOf } from '../../../domain/policy/content.ts'
import { requirePermission } from '../../../domain/identity/permissions.ts'
import type { ResourceActor } from '../../resources/spec.ts'
import { invalidField } from '../../validate.ts'
import type { SimulateBody } from './schema.ts'
import type { Static } from 'typebox'
import { contextOf, requestOf, requireProject, type DecodeBody } from '../../resources/scenario.ts'
import type { PolicyStore } from '../../../domain/policy/store.ts'
import type { ConfigurationGate, ConfigurationGateStores } from '../../../domain/gate/configuration-gate.ts'
import type { RunCandidateCases } from '../config/gate-routes.ts'
import type { GatewaySurface } from '../routes.ts'
import type { ConfigurationAdministration } from '../../../domain/gateway-config/mutations.ts'

export type NamedPolicyStore = Pick<PolicyStore, 'find' | 'unknownProjects'>

export type Body = Static<typeof SimulateBody>

type InputParts = {
  readonly actor: ResourceActor
  readonly config: SimulationInput['config']
  readonly parts: SimulateRouteParts
}

export async function inputOf(body: Body, { actor, config, parts }: InputParts): Promise<SimulationInput> {
  const { scenario = {}, categories = [], policies: includesInForce = true, judge: usesJudge = true } = body
  const { policies, decodeBody } = parts
  const organizationId = actor.organization.id
  await requireProject(policies, actor, scenario.project_id)
  const projectId = 'projectId' in actor ? actor.projectId : undefined
  const { inForce, tried } = await namedPolicies(body, actor, policies)
  return {
    organizationId,
    config,
    policies: { includesInForce, tried },
    usesJudge,
    scenario: {
      request: requestOf(scenario, decodeBody),
      direction: scenario.direction ?? 'request',
      categories: scenario.categories ?? categories,
      context: { ...contextOf(scenario, { credentialId: actor.id, projectId }), policyIds: inForce },
    },
  }
}

type NamedPolicies = { readonly inForce: readonly string[]; readonly tried: readonly TriedPolicy[] }

/** A policy in force applies as if the request named it. Of any other policy the draft is evaluated. */
async function namedPolicies(
  { policy_ids: ids = [] }: Body,
  actor: ResourceActor,
  store: NamedPolicyStore,
): Promise<NamedPolicies> {
  const inForce: string[] = []
  const tried: TriedPolicy[] = []
  for (const [at, id] of ids.entries()) {
    const policy = await store.find(actor.organization.id, id)
    if (!policy) throw invalidField(['policy_ids', at], 'must name a policy of the organization')
    if (policy.state === 'monitoring' || policy.state === 'enforcing') inForce.push(id)
    else {
      requirePermission(actor.permissions, 'policies:read')
      tried.push({
        id,
        name: policy.name,
        version: undefined,
        content: { ...contentOf(policy.draft), scope: 'unattached' },
      })
    }
  }
  return { inForce, tried }
}

export type SimulateRouteParts = Pick<GatewaySurface, 'authenticate' | 'limits' | 'clock'> & {
  readonly configurations: ConfigurationAdministration
  /** What is saved passes the publish gate. */
  readonly gate: Pick<ConfigurationGate, 'save'>
  readonly runCandidateCases: RunCandidateCases
  readonly reads: Pick<ConfigurationGateStores, 'gatewayCases'>
  readonly simulate: Simulate
  readonly decodeBody: DecodeBody
  readonly policies: NamedPolicyStore
}
