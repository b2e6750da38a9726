import Type, { type Static } from 'typebox'
import { flag, integer, text } from '../described.ts'
import {
  maxNamedKeys,
  type RotationStatus,
  type SecretKey,
  type SecretRotation,
} from '../../domain/server-secret/secret-rotation.ts'
import { orNull } from '../resources/fields.ts'
import type { Route } from '../route.ts'
import { installationRoute } from './route.ts'

const count = (description: string) => Type.Integer({ minimum: 0, description })

const namedKeys = (description: string) =>
  Type.Array(
    Type.Object({
      id: text('The id of the key.'),
      name: text('The name of the key.'),
      organization_id: text('The organization of the key.'),
    }),
    { description: `${description} At most ${maxNamedKeys} are listed.` },
  )

export const SecretStatusObject = Type.Object(
  {
    secret_id: Type.String({ description: 'Names the secret. The secret cannot be computed from it.' }),
    kept_in: Type.Enum(['data_folder', 'configuration'], { description: 'Where the secret is stored.' }),
    previous_id: orNull(Type.String(), 'The previous secret, while it is accepted.'),
    next_id: orNull(Type.String(), 'The next secret, which other nodes may already use.'),
    needs_previous: Type.Object(
      {
        keys: count('Keys that were not used since the rotation.'),
        encrypted_values: count('Values that are encrypted with the previous secret.'),
        audit_logs: count('Audit logs that are not signed with the current secret yet.'),
        audit_texts: count('1 until the key that checks texts of earlier audit events is stored again.'),
      },
      { description: 'What stops working without the previous secret.' },
    ),
    lost: Type.Object(
      { keys: integer('Keys.'), encrypted_values: integer('Encrypted values.') },
      { description: 'Keys and encrypted values of a secret that the service does not have.' },
    ),
    is_previous_needed: flag('Whether anything needs the previous secret.'),
    keys_needing_previous: namedKeys('Keys that were not used since the rotation.'),
    lost_keys: namedKeys('Keys of a secret that the service does not have.'),
  },
  {
    title: 'ServerSecret',
    examples: [
      {
        secret_id: '0f3a9c1e5b7d2468',
        kept_in: 'data_folder',
        previous_id: null,
        next_id: null,
        needs_previous: { keys: 0, encrypted_values: 0, audit_logs: 0, audit_texts: 0 },
        lost: { keys: 0, encrypted_values: 0 },
        is_previous_needed: false,
        keys_needing_previous: [],
        lost_keys: [],
      },
    ],
  },
)

const Retirement = Type.Object(
  { force: Type.Optional(Type.Boolean({ description: 'Also while keys need it. These keys stop working.' })) },
  { title: 'ServerSecretRetirement', additionalProperties: false, examples: [{}] },
)

const path = '/operator/secret'
const answer = { description: 'The progress of the rotation.', schema: SecretStatusObject }

/** The rotation of the server secret. */
export function secretRoutes(secretRotation: SecretRotation): Route[] {
  return [
    installationRoute({
      name: 'getServerSecret',
      method: 'GET',
      path,
      summary: 'Read which server secrets are in use',
      answer,
      operation: async () => presentRotation(await secretRotation.status()),
    }),
    installationRoute({
      name: 'rotateServerSecret',
      method: 'POST',
      path: `${path}/rotate`,
      summary: 'Rotate the server secret',
      description: 'May be sent again at any time: it continues a rotation that was interrupted.',
      answer,
      operation: async () => presentRotation(await secretRotation.rotate()),
    }),
    installationRoute({
      name: 'retireServerSecret',
      method: 'POST',
      path: `${path}/retire`,
      summary: 'Remove the previous server secret from the data folder',
      body: Retirement,
      answer,
      operation: async ({ body: { force = false } }) => presentRotation(await secretRotation.retire(force)),
    }),
  ]
}

const presentRotation = ({ needsPrevious, lost, ...status }: RotationStatus): Static<typeof SecretStatusObject> => ({
  secret_id: status.secretId,
  kept_in: status.isInDataFolder ? 'data_folder' : 'configuration',
  previous_id: status.previousId,
  next_id: status.nextId,
  needs_previous: {
    keys: needsPrevious.keys,
    encrypted_values: needsPrevious.encryptedValues,
    audit_logs: needsPrevious.auditLogs,
    audit_texts: needsPrevious.auditTexts,
  },
  lost: { keys: lost.keys, encrypted_values: lost.encryptedValues },
  is_previous_needed: status.isPreviousNeeded,
  keys_needing_previous: status.keysNeedingPrevious.map(presentKey),
  lost_keys: status.lostKeys.map(presentKey),
})

const presentKey = ({ id, name, organizationId }: SecretKey) => ({ id, name, organization_id: organizationId })

export type SecretStatusBody = Static<typeof SecretStatusObject>
