import { plural } from '../../base/plural.ts'
import { Fault } from '../../base/fault.ts'
import type { Clock } from '../../base/clock.ts'
import { chainsOfOtherKeys, publishKeys, signChains } from '../../adapters/stores/sql/audit/checkpoints.ts'
import type { Database } from '../../adapters/stores/sql/database.ts'
import {
  countEncrypted,
  encryptAgain,
  keepTextsKey,
  keysBySecret,
  type StoredEncryptions,
} from '../../adapters/stores/sql/secret-rotation.ts'
import type { AuditReads } from '../../domain/audit/log.ts'
import type { Keyring } from '../../domain/identity/keyring.ts'
import type { AuditParts } from '../audit-parts.ts'
import type { SecretFiles } from '../server-secrets.ts'

/** How far a rotation of the server secret has come. */
export type SecretStatus = {
  readonly secret_id: string
  readonly kept_in: 'data_folder' | 'configuration'
  readonly previous_id: string | null
  readonly next_id: string | null
  /** What stops working without the previous secret. */
  readonly needs_previous: {
    /** Keys that were not used since: their digests are made again at their next use. */
    readonly keys: number
    readonly encrypted_values: number
    /** Organizations whose audit log is not signed with the current secret yet. */
    readonly audit_logs: number
    /** 1 while the key that checks texts of earlier audit events is not kept under the current secret. */
    readonly audit_texts: number
  }
  /** Keys and encrypted values of a secret that is not here. */
  readonly lost: { readonly keys: number; readonly encrypted_values: number }
  readonly is_previous_needed: boolean
}

export type SecretOperations = {
  'secret.status'(input: object): Promise<SecretStatus>
  /** Makes everything of the current secret that can be; where the secret is kept in the data folder, makes a new one first. */
  'secret.rotate'(input: object): Promise<SecretStatus>
  /** Removes the previous secret from the data folder. */
  'secret.retire'(input: { force?: boolean }): Promise<SecretStatus>
}

export type SecretOperationParts = {
  readonly database: Database
  readonly clock: Clock
  readonly keyring: Keyring
  readonly secretFiles: SecretFiles | undefined
  readonly seals: StoredEncryptions
  readonly audit: AuditParts
  readonly reads: { readonly events: AuditReads }
}

const chainsAtOnce = 200

export function createSecretOperations(parts: SecretOperationParts): SecretOperations {
  const { database, clock, keyring, secretFiles, seals, audit } = parts
  const withRole = (role: 'previous' | 'next') => keyring.accepted().find((secret) => secret.role === role)
  const currentKeyId = (): string => audit.keys()[0]?.keyId ?? ''
  const previousKey = () => audit.keys()[keyring.accepted().findIndex(({ role }) => role === 'previous')]
  const checkpoints = { ...parts, ...audit, signed: new Map(), onRewritten: () => {} }

  async function status(): Promise<SecretStatus> {
    const [previous, next] = [withRole('previous'), withRole('next')]
    const { id } = keyring.current()
    const keys = await keysBySecret(database, clock.nowMs())
    const known = new Set(keyring.accepted().map((secret) => secret.id))
    const lostKeys = [...keys].filter(([secretId]) => secretId !== null && !known.has(secretId))
    const encrypted = await countEncrypted(database, seals)
    const needs = {
      keys: previous ? (keys.get(previous.id) ?? 0) + (keys.get(null) ?? 0) : 0,
      encrypted_values: encrypted.otherSecret,
      audit_logs: previous ? (await chainsOfOtherKeys(database, currentKeyId(), 1_000_000)).length : 0,
      audit_texts: previous ? await missingTextsKey() : 0,
    }
    return {
      secret_id: id,
      kept_in: secretFiles ? 'data_folder' : 'configuration',
      previous_id: previous?.id ?? null,
      next_id: next?.id ?? null,
      needs_previous: needs,
      lost: { keys: lostKeys.reduce((sum, [, count]) => sum + count, 0), encrypted_values: encrypted.unreadable },
      is_previous_needed: Object.values(needs).some((count) => count > 0),
    }
  }

  async function missingTextsKey(): Promise<number> {
    const kept = (await parts.reads.events.keys()).find(({ id }) => id === previousKey()?.keyId)
    return kept?.textsKey ? 0 : 1
  }

  async function moveToCurrent(): Promise<void> {
    await publishKeys(checkpoints)
    const [previous, key] = [withRole('previous'), previousKey()]
    if (previous && key) {
      const text = Buffer.from(previous.key('audit texts')).toString('base64')
      await keepTextsKey(database, key.keyId, seals.textsKeys.encrypt(text, key.keyId))
    }
    await encryptAgain(database, seals)
    for (;;) {
      const chains = await chainsOfOtherKeys(database, currentKeyId(), chainsAtOnce)
      if (chains.length === 0) return
      await signChains(chains, checkpoints)
    }
  }

  return {
    'secret.status': status,
    async 'secret.rotate'() {
      if (!withRole('previous')) {
        if (!secretFiles) throw notConfigured()
        keyring.use(secretFiles.replace())
      }
      await moveToCurrent()
      return status()
    },
    async 'secret.retire'({ force = false }) {
      if (!withRole('previous')) throw invalid('There is no previous secret: nothing is to be retired.')
      const before = await status()
      if (before.is_previous_needed && !force) throw invalid(stillNeeded(before))
      if (!secretFiles) {
        const words = before.is_previous_needed ? `${stillNeeded(before)} To remove it all the same, remove` : 'Remove'
        throw invalid(`${words} GATEHOUSE_SECRET_PREVIOUS from every node and restart them.`)
      }
      keyring.use(secretFiles.removePrevious())
      return status()
    },
  }
}

const invalid = (message: string): Fault => new Fault('validation', 'invalid_parameter', message)

const notConfigured = (): Fault =>
  invalid(
    'The secret is configured, so that it is rotated there: set GATEHOUSE_SECRET to the new one and GATEHOUSE_SECRET_PREVIOUS to the present one on every node, restart them, then run this again (docs/guide/secrets.md).',
  )

function stillNeeded({ needs_previous: needs }: SecretStatus): string {
  const { keys, encrypted_values: values, audit_logs: logs, audit_texts: texts } = needs
  if (values + logs + texts > 0) return 'The rotation is not complete: run gatehouse secret rotate.'
  return `${plural(keys, 'key')} ${keys === 1 ? 'was' : 'were'} not used since the rotation: without the previous secret, requests with such a key fail.`
}
