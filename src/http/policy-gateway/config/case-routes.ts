import { findGatewayCase, type GatewayCases, type GatewayCaseStores } from '../../../domain/cases/cases.ts'
import type { CaseOwner, GatewayCase } from '../../../domain/cases/case.ts'
import type { RunGatewayCases } from '../../../domain/cases/run.ts'
import { unsaved } from '../../../domain/gateway-config/configuration.ts'
import type { ConfigurationAdministration } from '../../../domain/gateway-config/mutations.ts'
import type { GatewayStore } from '../../../domain/gateway-config/store.ts'
import { omitUndefined } from '../../omit-undefined.ts'
import { chosenCases, countStates, requireDecodable } from '../../resources/cases.ts'
import { none } from '../../resources/fields.ts'
import { listQuery, pageOf, presentList } from '../../resources/list.ts'
import { scenarioDecoder, type DecodeBody } from '../../resources/scenario.ts'
import type { ResourceActor } from '../../resources/spec.ts'
import type { Route } from '../../route.ts'
import type { GatewayReads, GatewayRoutes } from '../routes.ts'
import * as Schema from './case-schema.ts'

const path = '/api/policy-gateway/config/cases'
const one = `${path}/{case_id}`
const answer = { description: 'The case.', schema: Schema.GatewayCaseObject }

export type GatewayCaseRouteParts = { readonly cases: GatewayCases; readonly decodeBody: DecodeBody }

/** Cases of the gateway configuration: texts with what it is expected to decide. */
export function gatewayCaseRoutes(
  { read, mutation }: GatewayRoutes<GatewayCaseStores>,
  { cases, decodeBody }: GatewayCaseRouteParts,
): Route[] {
  return [
    read({
      name: 'listGatewayCases',
      path,
      summary: 'List the cases of the gateway configuration',
      permission: 'gateway:read',
      params: none,
      query: listQuery({}),
      answer: { description: 'A page of cases.', schema: Schema.GatewayCaseList },
      operation: async ({ gatewayCases }, { actor, query }) =>
        presentList(await gatewayCases.list(ownerOf(actor), pageOf(query)), Schema.gatewayCasePresenter(actor)),
    }),
    mutation({
      name: 'createGatewayCase',
      method: 'POST',
      path,
      summary: 'Add a case to the gateway configuration',
      description: 'An organization may have 1,000 of them. Their texts are stored encrypted.',
      permission: 'gateway:write',
      params: none,
      query: none,
      body: Schema.CreateGatewayCase,
      status: 201,
      answer,
      async operation(stores, { actor, body }) {
        const { expect, weight = 'must', origin = 'written', tags = [], says, given, event_id: eventId = null } = body
        requireDecodable(given, decodeBody)
        const input = { says, given, expected: expect, weight, origin, tags, eventId, labelledBy: actor.id }
        return asSeenBy(actor, await cases.create(stores, ownerOf(actor), input))
      },
      present: (body) => body,
    }),
    read({
      name: 'getGatewayCase',
      path: one,
      summary: 'Read a case of the gateway configuration',
      permission: 'gateway:read',
      params: Schema.GatewayCaseParams,
      query: none,
      answer,
      operation: async (stores, { actor, params }) =>
        Schema.gatewayCasePresenter(actor)(await findGatewayCase(stores, ownerOf(actor), params.case_id)),
    }),
    mutation({
      name: 'updateGatewayCase',
      method: 'PATCH',
      path: one,
      summary: 'Change a case of the gateway configuration',
      description: 'Fields that are left out stay as they are.',
      permission: 'gateway:write',
      params: Schema.GatewayCaseParams,
      query: none,
      body: Schema.UpdateGatewayCase,
      answer,
      async operation(stores, { actor, params, body: { expect: expected, revision, ...body } }) {
        if (body.given) requireDecodable(body.given, decodeBody)
        const changes = { ...omitUndefined({ ...body, expected }), revision, labelledBy: actor.id }
        return asSeenBy(actor, await cases.update(stores, { ...ownerOf(actor), id: params.case_id }, changes))
      },
      present: (body) => body,
    }),
    mutation({
      name: 'deleteGatewayCase',
      method: 'DELETE',
      path: one,
      summary: 'Delete a case of the gateway configuration',
      permission: 'gateway:write',
      params: Schema.GatewayCaseParams,
      query: none,
      body: none,
      answer: { description: 'The id of the deleted case.', schema: Schema.DeletedGatewayCase },
      operation: (stores, { actor, params }) => cases.remove(stores, ownerOf(actor), params.case_id),
      present: ({ id }) => ({ id, object: 'policy_gateway.case.deleted', deleted: true }),
    }),
  ]
}

export type GatewayCaseRunParts = {
  readonly runCases: RunGatewayCases
  readonly configurations: ConfigurationAdministration
  readonly decodeBody: DecodeBody
}

/** `/api/policy-gateway/config/cases/run`: whether a configuration decides what its cases expect. */
export function gatewayCaseRunRoute(
  { query }: GatewayReads<GatewayCaseStores & { readonly gateway: GatewayStore }>,
  { runCases, configurations, decodeBody }: GatewayCaseRunParts,
): Route {
  return query({
    name: 'runGatewayCases',
    path: `${path}/run`,
    summary: 'Run the cases of the gateway configuration',
    description:
      'Evaluates each case with `config`, or with the saved configuration without it, and with the code that evaluates requests. Policies are left out, and so is the rollout. Nothing is stored.',
    permission: 'gateway:read',
    params: none,
    body: Schema.RunGatewayCasesBody,
    bodyLimitBytes: 1024 * 1024,
    answer: { description: 'The result of each case.', schema: Schema.GatewayCaseRunObject },
    async operation({ gateway, gatewayCases }, { actor, body }) {
      const owner = ownerOf(actor)
      const { organizationId } = owner
      const config = body.config
        ? configurations.check(body.config, 'config.')
        : ((await gateway.find(organizationId)) ?? unsaved).config
      const chosen = chosenCases(await gatewayCases.all(owner), body.ids, 'the gateway configuration')
      const scenarioOf = scenarioDecoder(decodeBody, actor.id)
      const results = await runCases({ organizationId, config, cases: chosen, scenarioOf })
      return {
        object: 'policy_gateway.case_run' as const,
        ...countStates(results),
        results: chosen.flatMap((each, at) => {
          const result = results[at]
          return result === undefined ? [] : [Schema.presentGatewayResult(each, result)]
        }),
      }
    },
  })
}

const ownerOf = (actor: ResourceActor): CaseOwner<GatewayCase> => ({
  organizationId: actor.organization.id,
  policyId: null,
})

const asSeenBy = <Rest>(actor: ResourceActor, { value, ...rest }: Rest & { readonly value: GatewayCase }) => ({
  ...rest,
  value: Schema.gatewayCasePresenter(actor)(value),
})
