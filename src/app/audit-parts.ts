import type { Clock } from '../base/clock.ts'
import type { Ids } from '../base/ids.ts'
import { createEventMaker, type Authority, type TextsKeys } from '../domain/audit/event/event-maker.ts'
import { createSigningKey } from '../domain/audit/chain/checkpoint.ts'
import { keysById, type TrustedKeys } from '../domain/audit/chain/trusted-keys.ts'
import type { Keyring, SecretKeys } from '../domain/server-secret/keyring.ts'
import packageFile from '../../package.json' with { type: 'json' }

export type AuditParts = ReturnType<typeof createAuditParts>

type SigningSecret = Authority & { readonly key: ReturnType<typeof createSigningKey> }

/** Event maker and signing keys of the audit log. They are the same on every node, because they are derived from the server secret. */
export function createAuditParts({ clock, ids, keyring }: { clock: Clock; ids: Ids; keyring: Keyring }) {
  let secrets = signingSecrets(keyring)
  keyring.onChange(() => void (secrets = signingSecrets(keyring)))
  const authorities = () => secrets
  const keys = () => secrets.map(({ key }) => key)
  return {
    /** Keys for checkpoints: the current one first, then the others that are accepted. */
    keys,
    events: createEventMaker({ clock, ids, authorities, productVersion: packageFile.version }),
    /** Keys for the digests of texts, by the authority that events name. */
    textsKeys: (): TextsKeys => new Map(secrets.map(({ uid, textsKey }) => [uid, textsKey])),
    trustedKeys: (): TrustedKeys => ({
      source: 'server_secret',
      keys: keysById(keys().map(({ publicKey }) => publicKey)),
    }),
  }
}

const signingSecrets = (keyring: Keyring): readonly SigningSecret[] => keyring.accepted().map(signingSecret)

function signingSecret(secret: SecretKeys): SigningSecret {
  const key = createSigningKey(secret.key('audit checkpoints'))
  return { uid: authorityOf(key.keyId), textsKey: secret.key('audit texts'), key }
}

/** The name of a server secret in events that were written with it. */
export const authorityOf = (keyId: string): string => `gatehouse/${keyId}`
