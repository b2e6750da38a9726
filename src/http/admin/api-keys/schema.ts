import Type, { type Static } from 'typebox'
import { text, texts } from '../../described.ts'
import { apiKeyPermissions } from '../../../domain/identity/permissions.ts'
import { projectStatuses } from '../../../domain/identity/store.ts'
import {
  allowedIps,
  expiresAt,
  idText,
  keyName,
  newAllowedIps,
  newExpiresAt,
  orNull,
  previousExpiresAt,
  shownIps,
  unixTime,
} from '../../resources/fields.ts'
import { managedBy } from '../../resources/managed-by.ts'
import { listOf, pageExample } from '../../resources/list.ts'
import { keyQuery } from '../key-list.ts'

const exampleId = 'key_01k9z8y7x6w5v4t3s2r1q0p9n8'
const projectExampleId = 'proj_01k9z8y7x6w5v4t3s2r1q0p9n0'

const projectId = idText('The project.', projectExampleId)

export const ApiKeysParams = Type.Object({ project_id: projectId })
export const ApiKeyParams = Type.Object({ project_id: projectId, key_id: idText('The API key.', exampleId) })
export const ApiKeyQuery = keyQuery
export const ProjectKeyQuery = Type.Object(
  { ...keyQuery.properties, project_id: Type.Optional(idText('Only keys of this project.', projectExampleId)) },
  { additionalProperties: false },
)

export const CreateApiKey = Type.Object(
  {
    name: keyName,
    permissions: Type.Optional(
      Type.Array(Type.Enum([...apiKeyPermissions]), {
        maxItems: apiKeyPermissions.length,
        description:
          'Permissions in addition to inference. Default: `keys.default_permissions` of the configuration, which is empty unless it was changed.',
      }),
    ),
    models: Type.Optional(
      orNull(
        Type.Array(Type.String({ minLength: 1, maxLength: 200 }), { maxItems: 1000 }),
        'The models that the key may use. Default or null: all.',
      ),
    ),
    expires_at: expiresAt,
    allowed_ips: allowedIps,
  },
  {
    title: 'ApiKeyCreate',
    additionalProperties: false,
    examples: [{ name: 'Support chat', permissions: [], models: ['gatehouse-echo'] }],
  },
)

export const UpdateApiKey = Type.Object(
  {
    name: Type.Optional(keyName),
    permissions: Type.Optional(
      Type.Array(Type.Enum([...apiKeyPermissions]), {
        maxItems: apiKeyPermissions.length,
        description: 'Replaces the permissions in addition to inference.',
      }),
    ),
    models: Type.Optional(
      orNull(
        Type.Array(Type.String({ minLength: 1, maxLength: 200 }), { maxItems: 1000 }),
        'Replaces the models that the key may use. Null: all.',
      ),
    ),
    expires_at: newExpiresAt,
    allowed_ips: newAllowedIps,
  },
  {
    title: 'ApiKeyUpdate',
    additionalProperties: false,
    examples: [{ name: 'Support chat', models: ['gatehouse-echo'] }],
  },
)

const fields = {
  id: text('The id of the key.'),
  object: Type.Literal('organization.project.api_key'),
  project_id: text('The project of the key.'),
  name: text('The purpose of the key.'),
  redacted_value: Type.String({ description: 'The prefix and the last four characters of the key.' }),
  permissions: texts('The permissions in addition to inference.'),
  models: orNull(Type.Array(Type.String()), 'The models that the key may use; null allows all.'),
  allowed_ips: shownIps,
  created_at: unixTime('When it was created.'),
  last_used_at: Type.Optional(unixTime('Time of the last use, to the minute; absent before the first use.')),
  expires_at: Type.Optional(unixTime('When the key expires; absent if it never does.')),
  previous_expires_at: previousExpiresAt,
  managed_by: managedBy,
  revoked_at: Type.Optional(unixTime('When the key was revoked; absent if it was not.')),
}

const example = {
  id: exampleId,
  object: 'organization.project.api_key',
  project_id: projectExampleId,
  name: 'Support chat',
  redacted_value: 'ak_…x7Qa',
  permissions: [],
  models: ['gatehouse-echo'],
  allowed_ips: ['203.0.113.0/24'],
  created_at: 1_767_225_600,
}

const projectKeyExample = { ...example, project_name: 'Support', project_status: 'active' }

export const ApiKeyObject = Type.Object(fields, { title: 'ApiKey', examples: [example] })

export const IssuedApiKey = Type.Object(
  { ...fields, value: Type.String({ description: 'The secret key. It is returned only in this response.' }) },
  { title: 'ApiKeyWithSecret', examples: [{ ...example, value: 'ak_0123456789abcdefghijABCDEFGHIJklx7Qa00' }] },
)

export const ApiKeyList = listOf('ApiKeyList', ApiKeyObject, pageExample(example))

export const ProjectKeyObject = Type.Object(
  {
    ...fields,
    project_name: Type.String({ description: 'The name of the project.' }),
    project_status: Type.Enum([...projectStatuses], {
      description: 'The status of the project. A key of an archived project does not work.',
    }),
  },
  { title: 'ProjectApiKey', examples: [projectKeyExample] },
)

export const ProjectKeyList = listOf('ProjectApiKeyList', ProjectKeyObject, pageExample(projectKeyExample))

export const DeletedApiKey = Type.Object(
  {
    id: text('The key that was revoked.'),
    object: Type.Literal('organization.project.api_key.deleted'),
    deleted: Type.Literal(true),
  },
  {
    title: 'ApiKeyDeleted',
    examples: [{ id: exampleId, object: 'organization.project.api_key.deleted', deleted: true }],
  },
)

export type ProjectKeyBody = Static<typeof ProjectKeyObject>
