import type { Clock } from '../base/clock.ts'
import type { MaybePromise } from '../base/maybe-promise.ts'
import type { Ids } from '../base/ids.ts'
import type { Encryption } from '../base/encryption.ts'
import type { ExportStore } from '../domain/audit/export/export-sink.ts'
import type { AuditReads } from '../domain/audit/log.ts'
import { createEventMaker, type Authority } from '../domain/audit/event/event-maker.ts'
import { createSigningKey } from '../domain/audit/chain/checkpoint.ts'
import { keysById, type TrustedKeys } from '../domain/audit/chain/trusted-keys.ts'
import type { Keyring, SecretKeys } from '../domain/identity/keyring.ts'
import type { Infrastructure } from './infrastructure.ts'
import packageFile from '../../package.json' with { type: 'json' }

export type AuditParts = ReturnType<typeof createAuditParts>

type SigningSecret = Authority & { readonly key: ReturnType<typeof createSigningKey> }

/** What everybody who writes to the audit log needs: the same on every node, since it comes from the server's secret. */
export function createAuditParts({ clock, ids, keyring }: { clock: Clock; ids: Ids; keyring: Keyring }) {
  let known = signingSecrets(keyring)
  keyring.onChange(() => void (known = signingSecrets(keyring)))
  const authorities = () => known
  const keys = () => known.map(({ key }) => key)
  return {
    /** Those that sign checkpoints: the current one, then the others that are accepted. */
    keys,
    events: createEventMaker({ clock, ids, authorities, productVersion: packageFile.version }),
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

/** How events name the server secret under which they were written. */
export const authorityOf = (keyId: string): string => `gatehouse/${keyId}`

/** What the audit log needs to be at work. */
export type AuditServicesParts = Infrastructure & {
  readonly audit: AuditParts
  readonly reads: { readonly events: AuditReads; readonly exports: ExportStore }
  /** For the secrets of sinks. */
  readonly seal: Encryption
  /** Organizations that want no answer without its event in the log, whatever the configuration says for all. */
  readonly isAuditRequired: (organizationId: string) => MaybePromise<boolean>
}
