import Type, { type Static } from 'typebox'
import { expectedDecisions, type GatewayCase } from '../../../domain/cases/case.ts'
import type { GatewayCaseResult } from '../../../domain/cases/run.ts'
import type { Permission } from '../../../domain/identity/permissions.ts'
import { text } from '../../described.ts'
import {
  caseExampleFields,
  caseExampleId,
  caseFields,
  caseIds,
  caseResultEndFields,
  caseResultFields,
  caseRunFields,
  createCaseFields,
  presentCase,
  presentCaseResult,
  updateCaseFields,
} from '../../resources/cases.ts'
import { idText, orNull } from '../../resources/fields.ts'
import { GivenConfigurationBody } from '../../resources/gateway-configuration.ts'
import { listOf, pageExample } from '../../resources/list.ts'

const strict = { additionalProperties: false }

export const GatewayCaseParams = Type.Object({ case_id: idText('The case.', caseExampleId) })

const expect = Type.Enum([...expectedDecisions], {
  description: 'The decision that is expected: of the configuration, and of the categories that are always blocked.',
})

export const CreateGatewayCase = Type.Object(createCaseFields(expect), {
  ...strict,
  title: 'GatewayCaseCreate',
  examples: [
    { says: 'asked outright', given: { text: 'What is Project X?' }, expect: 'refuse' },
    { says: 'an address', given: { text: 'Write to ann@example.com.' }, expect: 'redact', weight: 'should' },
  ],
})

export const UpdateGatewayCase = Type.Object(updateCaseFields(expect), {
  ...strict,
  title: 'GatewayCaseUpdate',
  examples: [{ revision: 1, weight: 'should' }],
})

const example = {
  id: caseExampleId,
  object: 'policy_gateway.case',
  says: 'asked outright',
  given: { text: 'What is Project X?' },
  expect: 'refuse',
  ...caseExampleFields,
}

export const GatewayCaseObject = Type.Object(
  { id: text('The id of the case.'), object: Type.Literal('policy_gateway.case'), ...caseFields(expect) },
  { title: 'GatewayCase', examples: [example] },
)

export const GatewayCaseList = listOf('GatewayCaseList', GatewayCaseObject, pageExample(example))

export const DeletedGatewayCase = Type.Object(
  {
    id: text('The case that was deleted.'),
    object: Type.Literal('policy_gateway.case.deleted'),
    deleted: Type.Literal(true),
  },
  {
    title: 'GatewayCaseDeleted',
    examples: [{ id: caseExampleId, object: 'policy_gateway.case.deleted', deleted: true }],
  },
)

export const RunGatewayCasesBody = Type.Object(
  { config: Type.Optional(GivenConfigurationBody), ids: caseIds },
  {
    ...strict,
    title: 'GatewayCaseRunRequest',
    examples: [{ config: { rules: { denylist: ['project x'] } } }, {}],
  },
)

export const GatewayCaseRunObject = Type.Object(
  {
    object: Type.Literal('policy_gateway.case_run'),
    ...caseRunFields,
    results: Type.Array(
      Type.Object(
        {
          ...caseResultFields(expect),
          got: orNull(Type.Enum([...expectedDecisions]), 'What was decided; null if the case was not evaluated.'),
          ...caseResultEndFields,
        },
        { title: 'GatewayCaseResult' },
      ),
      { description: 'The result of each case, the oldest case first.' },
    ),
  },
  {
    title: 'GatewayCaseRun',
    examples: [
      {
        object: 'policy_gateway.case_run',
        passed: 1,
        failed: 0,
        not_evaluated: 0,
        results: [
          {
            case_id: caseExampleId,
            says: 'asked outright',
            weight: 'must',
            state: 'passed',
            expected: 'refuse',
            got: 'refuse',
            not_evaluated: null,
            ms: 0.412,
          },
        ],
      },
    ],
  },
)

export type GatewayCaseBody = Static<typeof GatewayCaseObject>

export const gatewayCasePresenter =
  (actor: { readonly permissions: ReadonlySet<Permission> }) =>
  (one: GatewayCase): GatewayCaseBody => ({
    id: one.id,
    object: 'policy_gateway.case',
    expect: one.expected,
    ...presentCase(one, actor),
  })

export const presentGatewayResult = (one: GatewayCase, result: GatewayCaseResult) => ({
  ...presentCaseResult(one, result),
  expected: one.expected,
  got: result.got ?? null,
})
