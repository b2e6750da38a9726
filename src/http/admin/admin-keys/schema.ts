import Type from 'typebox'
import { text, texts } from '../../described.ts'
import { roleNames } from '../../../domain/identity/roles.ts'
import { permissions } from '../../../domain/identity/permissions.ts'
import {
  allowedIps,
  expiresAt,
  idText,
  keyName,
  newAllowedIps,
  newExpiresAt,
  previousExpiresAt,
  shownIps,
  unixTime,
} from '../../resources/fields.ts'
import { managedBy } from '../../resources/managed-by.ts'
import { listOf, pageExample } from '../../resources/list.ts'
import { keyQuery } from '../key-list.ts'

const exampleId = 'adk_01k9z8y7x6w5v4t3s2r1q0p9n8'

export const AdminKeyParams = Type.Object({ key_id: idText('The administrator key.', exampleId) })
export const AdminKeyQuery = keyQuery

const grantedPermissions = Type.Array(Type.Enum([...permissions]), {
  minItems: 1,
  maxItems: permissions.length,
  description: 'The permissions of the key; `*` includes all. Default: those of the key that creates it.',
})

export const CreateAdminKey = Type.Object(
  {
    name: keyName,
    permissions: Type.Optional(grantedPermissions),
    role: Type.Optional(
      Type.Enum([...roleNames], {
        description:
          'Gives the key the permissions of this role, in place of `permissions`. They stay as they are if a later version changes the role.',
      }),
    ),
    expires_at: expiresAt,
    allowed_ips: allowedIps,
  },
  {
    title: 'AdminApiKeyCreate',
    additionalProperties: false,
    examples: [{ name: 'CI', permissions: ['policies:read', 'policies:write'], expires_at: 1_798_761_600 }],
  },
)

export const UpdateAdminKey = Type.Object(
  {
    name: Type.Optional(keyName),
    permissions: Type.Optional(
      Type.Array(Type.Enum([...permissions]), {
        minItems: 1,
        maxItems: permissions.length,
        description: 'Replaces the permissions of the key; `*` includes all.',
      }),
    ),
    expires_at: newExpiresAt,
    allowed_ips: newAllowedIps,
  },
  {
    title: 'AdminApiKeyUpdate',
    additionalProperties: false,
    examples: [{ name: 'CI', permissions: ['policies:read'] }],
  },
)

const fields = {
  id: text('The id of the key.'),
  object: Type.Literal('organization.admin_api_key'),
  name: text('The purpose of the key.'),
  redacted_value: Type.String({ description: 'The prefix and the last four characters of the key.' }),
  created_at: unixTime('When it was created.'),
  last_used_at: Type.Optional(unixTime('Time of the last use, to the minute; absent before the first use.')),
  expires_at: Type.Optional(unixTime('When the key expires; absent if it never does.')),
  previous_expires_at: previousExpiresAt,
  managed_by: managedBy,
  revoked_at: Type.Optional(unixTime('When the key was revoked; absent if it was not.')),
  owner: Type.Object(
    { id: text('The organization.'), type: Type.Literal('organization') },
    { description: 'Who the key belongs to.' },
  ),
  permissions: texts('The permissions of the key; `*` includes all.'),
  allowed_ips: shownIps,
}

const example = {
  id: exampleId,
  object: 'organization.admin_api_key',
  name: 'CI',
  redacted_value: 'adm_…x7Qa',
  created_at: 1_767_225_600,
  owner: { id: 'org_01k9z8y7x6w5v4t3s2r1q0p9n7', type: 'organization' },
  permissions: ['policies:read', 'policies:write'],
  allowed_ips: null,
}

export const AdminKeyObject = Type.Object(fields, { title: 'AdminApiKey', examples: [example] })

export const IssuedAdminKey = Type.Object(
  { ...fields, value: Type.String({ description: 'The secret key. It is returned only in this response.' }) },
  { title: 'AdminApiKeyWithSecret', examples: [{ ...example, value: 'adm_0123456789abcdefghijABCDEFGHIJklx7Qa00' }] },
)

export const AdminKeyList = listOf('AdminApiKeyList', AdminKeyObject, pageExample(example))

export const DeletedAdminKey = Type.Object(
  {
    id: text('The key that was revoked.'),
    object: Type.Literal('organization.admin_api_key.deleted'),
    deleted: Type.Literal(true),
  },
  {
    title: 'AdminApiKeyDeleted',
    examples: [{ id: exampleId, object: 'organization.admin_api_key.deleted', deleted: true }],
  },
)
