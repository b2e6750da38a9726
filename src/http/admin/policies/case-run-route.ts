import type { Static } from 'typebox'
import type { CaseOwner } from '../../../domain/cases/case.ts'
import type { RunCases } from '../../../domain/cases/run.ts'
import type { TriedPolicy } from '../../../domain/evaluation/simulate.ts'
import { contentOf } from '../../../domain/policy/content.ts'
import { findPolicy, findVersion } from '../../../domain/policy/mutations.ts'
import { chosenCases, countStates } from '../../resources/cases.ts'
import { scenarioDecoder, type DecodeBody } from '../../resources/scenario.ts'
import type { Route } from '../../route.ts'
import { invalidField } from '../../validate.ts'
import type { AdminReads } from '../routes.ts'
import { ownerOf, type CaseRouteStores } from './case-routes.ts'
import * as Schema from './case-schema.ts'
import { PolicyParams } from './schema.ts'

export type CaseRunParts = { readonly runCases: RunCases; readonly decodeBody: DecodeBody }

/** `/v1/organization/policies/{policy_id}/cases/run`: whether the rule says what its cases expect. */
export function caseRunRoute({ query }: AdminReads<CaseRouteStores>, { runCases, decodeBody }: CaseRunParts): Route {
  return query({
    name: 'runPolicyCases',
    path: '/v1/organization/policies/{policy_id}/cases/run',
    summary: 'Run the cases of a policy',
    description:
      'Evaluates each case with the code that evaluates requests, and compares what the rule says with what is expected. Nothing is stored.',
    permission: 'policies:read',
    params: PolicyParams,
    body: Schema.RunCasesBody,
    answer: { description: 'The result of each case.', schema: Schema.CaseRunObject },
    async operation(stores, { actor, params, body }) {
      const owner = ownerOf(actor, params)
      const policy = await contentToRun(stores, owner, body)
      const chosen = chosenCases(await stores.cases.all(owner), body.ids, 'the policy')
      const run = { organizationId: owner.organizationId, policy, cases: chosen, usesJudge: body.judge ?? true }
      const results = await runCases({ ...run, scenarioOf: scenarioDecoder(decodeBody, actor.id) })
      return {
        object: 'organization.policy.case_run' as const,
        policy_id: owner.policyId,
        ...countStates(results),
        results: chosen.flatMap((each, at) => {
          const result = results[at]
          return result === undefined ? [] : [Schema.presentResult(each, result)]
        }),
      }
    },
  })
}

async function contentToRun(
  { policies }: Pick<CaseRouteStores, 'policies'>,
  owner: CaseOwner,
  { use = 'draft', version }: Static<typeof Schema.RunCasesBody>,
): Promise<TriedPolicy> {
  const policy = await findPolicy(policies, owner.organizationId, owner.policyId)
  const { id, name, draft, published } = policy
  if (use === 'draft') return { id, name, version: undefined, content: contentOf(draft) }
  if (use === 'version') {
    if (version === undefined) throw invalidField(['version'], 'is required with use: version')
    return { id, name, version, content: contentOf(await findVersion(policies, policy, version)) }
  }
  if (!published) throw invalidField(['use'], 'must be "draft", because no version is published')
  return { id, name, version: published.version, content: contentOf(published) }
}
