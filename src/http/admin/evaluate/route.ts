import type { Static } from 'typebox'
import type { Evidence, FindEvidence } from '../../../domain/evaluation/evidence.ts'
import type { Simulate, Simulation, TriedPolicy } from '../../../domain/evaluation/simulate.ts'
import { policyObject } from '../../../domain/evaluation/verdict/format.ts'
import { outcomesOf, type Outcome } from '../../../domain/evaluation/verdict/outcomes.ts'
import { requirePermission } from '../../../domain/identity/permissions.ts'
import { contentChanges, contentOf, contentWith, initialContent } from '../../../domain/policy/content.ts'
import type { PolicyStore } from '../../../domain/policy/store.ts'
import { none } from '../../resources/fields.ts'
import { presentOutcome } from '../../resources/outcome.ts'
import { contextOf, requestOf, requireProject, type DecodeBody } from '../../resources/scenario.ts'
import type { Route } from '../../route.ts'
import { invalidField } from '../../validate.ts'
import type { AdminReads } from '../routes.ts'
import { EvaluateBody, EvaluationObject } from './schema.ts'
import type { Clock } from '../../../base/clock.ts'
import type { ConfigurationAdministration } from '../../../domain/gateway-config/mutations.ts'
import type { PolicyAdministration } from '../../../domain/policy/mutations.ts'

type Body = Static<typeof EvaluateBody>

export type EvaluateRouteParts = {
  readonly simulate: Simulate
  readonly findEvidence: FindEvidence
  readonly decodeBody: DecodeBody
  readonly configurations: Pick<ConfigurationAdministration, 'check'>
  readonly policies: Pick<PolicyAdministration, 'checkRule'>
  readonly clock: Clock
}

/** `/v1/organization/evaluate`: what a text would get, and why. */
export function evaluateRoute(
  { query }: AdminReads<{ readonly policies: PolicyStore }>,
  parts: EvaluateRouteParts,
): Route {
  const { simulate, findEvidence, decodeBody, configurations, clock } = parts
  return query({
    name: 'evaluateText',
    path: '/v1/organization/evaluate',
    summary: 'Evaluate a text',
    description:
      'Answers what a request or response with this text would get, and why, with the code that evaluates these. Drafts and configurations that are not saved can be evaluated as well. Nothing is sent to the requested model, nothing counts against a quota, and nothing is stored. Rewriting and redacting are reported and not carried out. Also needs the permission `gateway:read`.',
    permission: 'policies:read',
    params: none,
    body: EvaluateBody,
    answer: { description: 'The verdict, the result of each check, and the evidence.', schema: EvaluationObject },
    async operation(reads, { actor, body }) {
      requirePermission(actor.permissions, 'gateway:read')
      const { scenario, gateway = 'in_force', judge: usesJudge = true } = body
      const organizationId = actor.organization.id
      await requireProject(reads.policies, actor, scenario.project_id)
      const request = requestOf(scenario, decodeBody)
      if (request === undefined) throw invalidField(['scenario', 'text'], 'is required, or messages')
      const simulation = await simulate({
        organizationId,
        config: gateway === 'in_force' ? undefined : configurations.check(gateway, 'gateway.'),
        policies: await policiesOf(body, { ...parts, organizationId, store: reads.policies }),
        usesJudge,
        scenario: {
          request,
          direction: scenario.direction ?? 'request',
          categories: [],
          context: contextOf(scenario, { credentialId: actor.id, projectId: undefined }),
        },
      })
      const evaluatedAtMs = clock.monotonicMs()
      const evidence = await findEvidence(simulation)
      return presentEvaluation(simulation, evidence, clock.monotonicMs() - evaluatedAtMs)
    },
  })
}

type PolicyParts = Pick<EvaluateRouteParts, 'policies'> & {
  readonly organizationId: string
  readonly store: PolicyStore
}

/** The policies to evaluate. A policy that is named twice is rejected, because only one of them could apply. */
async function policiesOf({ policies = 'in_force' }: Body, parts: PolicyParts) {
  if (policies === 'in_force') return { includesInForce: true, tried: [] }
  const tried: TriedPolicy[] = []
  const leftOut: string[] = []
  for (const [at, item] of policies.entries()) {
    if (item === 'in_force') continue
    const policy = 'policy_id' in item ? await storedPolicy(item, at, parts) : givenPolicy(item, at, parts)
    const isNamed = leftOut.includes(policy.id) || tried.some(({ id }) => id === policy.id)
    if (isNamed) throw invalidField(['policies', at, 'policy_id'], 'is named twice')
    if ('policy_id' in item && item.use === 'none') leftOut.push(policy.id)
    else tried.push(policy)
  }
  return { includesInForce: policies.includes('in_force'), tried, leftOut }
}

type Item = Exclude<NonNullable<Exclude<Body['policies'], 'in_force'>>[number], 'in_force'>
type StoredItem = Extract<Item, { policy_id: string }>
type GivenItem = Exclude<Item, StoredItem>

async function storedPolicy({ policy_id: id, use }: StoredItem, at: number, parts: PolicyParts): Promise<TriedPolicy> {
  const policy = await parts.store.find(parts.organizationId, id)
  if (!policy) throw invalidField(['policies', at, 'policy_id'], 'must name a policy of the organization')
  const { name, draft, published } = policy
  if (use !== 'published') return { id, name, version: undefined, content: contentOf(draft) }
  if (!published) throw invalidField(['policies', at, 'use'], 'must be "draft", because no version is published')
  return { id, name, version: published.version, content: contentOf(published) }
}

function givenPolicy({ name, ...content }: GivenItem, at: number, { policies }: PolicyParts): TriedPolicy {
  policies.checkRule(content.rule, `policies[${at}].rule`)
  const id = `policies[${at}]`
  return { id, name, version: undefined, content: contentWith(initialContent, contentChanges(content)) }
}

function presentEvaluation(
  simulation: Simulation,
  evidence: readonly Evidence[],
  evidenceMs: number,
): Static<typeof EvaluationObject> {
  const { verdict, findings, timings } = simulation
  const { version, triggered_categories: triggered, ...policy } = policyObject(verdict, undefined)
  return {
    object: 'organization.evaluation',
    verdict: {
      ...policy,
      check: verdict.deciding?.check ?? null,
      version: version === 0 ? null : version,
      triggered_categories: [...triggered],
    },
    outcomes: outcomesOf(simulation).map(presentEvaluationOutcome),
    evidence: evidence.map(presentEvidence),
    scores: { ...findings.scores },
    stage: findings.stage ?? 'linear',
    timings: {
      rules_ms: rounded(timings.rulesMs),
      evaluation_ms: rounded(timings.evaluationMs),
      evidence_ms: rounded(evidenceMs),
    },
  }
}

const presentEvaluationOutcome = (outcome: Outcome) => ({
  ...presentOutcome(outcome),
  name: outcome.name ?? null,
  score_bp: outcome.scoreBasisPoints ?? null,
  threshold_bp: outcome.thresholdBasisPoints ?? null,
})

const presentEvidence = ({ check, policyId, kind, name, where, span, text, scoreBasisPoints }: Evidence) => ({
  check,
  policy_id: policyId ?? null,
  kind,
  name,
  where:
    where === undefined
      ? null
      : {
          kind: where.kind,
          message: where.kind === 'part' ? where.message : null,
          part: where.kind === 'part' ? where.part : null,
        },
  start: span?.start ?? null,
  end: span?.end ?? null,
  text: text ?? null,
  score_bp: scoreBasisPoints ?? null,
})

const rounded = (ms: number): number => Math.round(ms * 1000) / 1000
