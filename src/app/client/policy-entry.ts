import Type from 'typebox'
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
