import Type from 'typebox'
import { CreateBudget, matchFields } from '../../http/admin/budgets/schema.ts'
import { CreateJudge } from '../../http/admin/judges/schema.ts'
import { GateSettingsBody } from '../../http/admin/policies/gate-schema.ts'
import { CreatePolicy } from '../../http/admin/policies/schema.ts'
import { CaseEntry } from './file-cases.ts'

export const entryId = Type.Optional(
  Type.String({
    minLength: 1,
    description: 'The id of an existing resource. Needed only if the name is not unique, or to rename it.',
  }),
)
export const projectName = Type.String({ minLength: 1, description: 'The name of the project, or its id.' })

/** A policy in a file of resources. */
export const PolicyEntry = Type.Object(
  {
    id: entryId,
    ...CreatePolicy.properties,
    projects: Type.Optional(
      Type.Array(projectName, {
        description: 'The projects of the scope `projects`, by name. In place of `project_ids`.',
      }),
    ),
    publish_gate: Type.Optional(GateSettingsBody),
    rollout_percent: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 100,
        description:
          'The share of users that the policy is enforced for. Left out: it stays as it is, and a new version is enforced for everybody.',
      }),
    ),
    publish: Type.Optional(Type.Boolean({ description: 'False leaves the draft unpublished. Default: true.' })),
    cases: Type.Optional(
      Type.Array(CaseEntry, {
        maxItems: 1_000,
        description: 'Texts with what the rule is expected to say. Left out: the cases of the policy stay as they are.',
      }),
    ),
  },
  { additionalProperties: false },
)

/** A judge in a file of resources. */
export const JudgeEntry = Type.Object({ id: entryId, ...CreateJudge.properties }, { additionalProperties: false })

const { extra: _extra, match: _match, ...budgetSettings } = CreateBudget.properties
const { project_ids: _projectIds, ...budgetMatch } = matchFields

/** A budget in a file of resources. An extra is given for one period, so it is not in files. */
export const BudgetEntry = Type.Object(
  {
    id: entryId,
    ...budgetSettings,
    match: Type.Optional(
      Type.Partial(
        Type.Object({
          projects: Type.Array(projectName, { maxItems: 100, description: 'Projects, by name or id.' }),
          ...budgetMatch,
        }),
        {
          additionalProperties: false,
          description: 'The requests that the budget applies to. An empty list is no condition.',
        },
      ),
    ),
  },
  { additionalProperties: false },
)
