import type { Clock } from '../base/clock.ts'
import type { Ids } from '../base/ids.ts'
import type { Random } from '../base/random.ts'
import { createAuditedMutation } from '../domain/mutations/audited-mutation.ts'
import type { Changes } from '../domain/mutations/changes.ts'
import { createKeyDigests } from '../domain/identity/key-digests.ts'
import { createKeyChanges } from '../domain/identity/key-changes.ts'
import type { Keyring } from '../domain/server-secret/keyring.ts'
import { createAuditedDirectory } from '../domain/identity/audited-directory.ts'
import { createMembers } from '../domain/members/members.ts'
import { createDirectory } from '../domain/identity/directory.ts'
import { createOrganizations } from '../domain/identity/organizations.ts'
import type { KeyDefaults } from '../domain/identity/permissions.ts'
import { createSecretRotation, type SecretFiles } from '../domain/server-secret/secret-rotation.ts'
import { grantStartingCredits } from '../domain/credits/payments.ts'
import { createConfigurationAdministration } from '../domain/gateway-config/mutations.ts'
import { createBacktestAdministration } from '../domain/evaluation/backtest/create.ts'
import { createPolicyAdministration } from '../domain/policy/mutations.ts'
import { createCelChecker } from '../adapters/cel/cel.ts'
import { re2Patterns } from '../adapters/patterns/re2.ts'
import { archiveStore } from '../adapters/stores/sql/audit/archived-objects.ts'
import { auditReads } from '../adapters/stores/sql/audit/events.ts'
import { auditLogStore, eventLog } from '../adapters/stores/sql/audit/log.ts'
import { auditTexts } from '../adapters/stores/sql/audit/texts.ts'
import { verificationStore } from '../adapters/stores/sql/audit/verifications.ts'
import { createVerificationAdministration } from '../domain/audit/verification/create.ts'
import { exportStore } from '../adapters/stores/sql/exports/sinks.ts'
import { sinkKinds } from '../adapters/sinks/registry.ts'
import { createSinkAdministration } from '../domain/audit/export/mutations.ts'
import { createChange } from '../adapters/stores/sql/change.ts'
import type { Database, Transaction } from '../adapters/stores/sql/database.ts'
import { consoleSessionStore } from '../adapters/stores/sql/identity/console-sessions.ts'
import { memberStore } from '../adapters/stores/sql/identity/members.ts'
import { applyLeaseStore } from '../adapters/stores/sql/identity/apply-leases.ts'
import { ownershipStore } from '../adapters/stores/sql/identity/ownership.ts'
import { createCheckpointFiles } from '../adapters/stores/checkpoint-files.ts'
import { idempotencyStore } from '../adapters/stores/sql/identity/idempotency.ts'
import { gatewayStore } from '../adapters/stores/sql/policies/gateway-configurations.ts'
import { decisionHours, decisionSums } from '../adapters/stores/sql/policies/decision-counts.ts'
import { reportedSpikes } from '../adapters/stores/sql/policies/reported-spikes.ts'
import { ledgerBalances } from '../adapters/stores/sql/credits/ledger-balances.ts'
import { grantStore } from '../adapters/stores/sql/credits/grants.ts'
import { overrideStore } from '../adapters/stores/sql/credits/limit-overrides.ts'
import { backtestStore } from '../adapters/stores/sql/policies/backtests.ts'
import { policyStore } from '../adapters/stores/sql/policies/policies.ts'
import { directoryStore } from '../adapters/stores/sql/identity/directory.ts'
import { ledgerReports } from '../adapters/stores/sql/credits/reports.ts'
import { ledgerStore } from '../adapters/stores/sql/credits/ledger.ts'
import { trafficStore } from '../adapters/stores/sql/rollup/traffic.ts'
import type { VerificationThreads } from '../adapters/stores/sql/verification/threads.ts'
import { createAuditParts } from './audit-parts.ts'
import { createAuditVerifier } from './audit-verifier.ts'
import { openLedgerVerifier } from './ledger-verifier.ts'
import { createStoredEncryptions, rotationStore } from './storage/secret-rotation.ts'
import { createSinkAddressRules, type SinkAddressSettings } from './sink-addresses.ts'

export type AdministrationParts = {
  readonly database: Database
  readonly clock: Clock
  readonly random: Random
  readonly ids: Ids
  readonly changes: Changes
  readonly keyring: Keyring
  /** Undefined if the secret is configured. */
  readonly secretFiles: SecretFiles | undefined
  readonly credits: {
    readonly credit_usd: number
    readonly starting: number
    readonly administrators_manage: boolean
  }
  readonly keyDefaults: KeyDefaults
  readonly exports: SinkAddressSettings
  /** Whether a model judges rules in plain language. */
  readonly hasJudge: boolean
  /** How long the audit log is kept. */
  readonly auditDays: number
  /** Where the last checkpoints are kept outside of the database. */
  readonly dataDir: string
  readonly verification: VerificationThreads
}

/** What administrators and the operator may read and change: the stores of one transaction, and the rules over them. */
export function createAdministration(parts: AdministrationParts) {
  const { database, clock, random, ids, changes, keyring, credits, keyDefaults } = parts
  const audit = { ...createAuditParts({ clock, ids, keyring }), signed: createCheckpointFiles(parts.dataDir) }
  const encryptions = createStoredEncryptions(keyring, random)
  const eventTable = { isPartitioned: database.engine === 'postgres' }
  const open = (tx: Transaction) => ({
    directory: directoryStore(tx),
    members: memberStore(tx),
    sessions: consoleSessionStore(tx),
    policies: policyStore(tx),
    backtests: backtestStore(tx),
    gateway: gatewayStore(tx),
    decisions: { ...decisionSums(tx), ...decisionHours(tx, clock) },
    spikes: reportedSpikes(tx),
    audit: auditLogStore(tx, audit.events),
    eventLog: eventLog(tx, audit.events),
    events: auditReads(tx, eventTable),
    verifications: verificationStore(tx),
    texts: auditTexts(tx),
    exports: exportStore(tx, encryptions.exportSecrets),
    grants: grantStore(tx, { ids, clock, engine: database.engine }),
    overrides: overrideStore(tx),
    ownership: ownershipStore(tx),
    applyLeases: applyLeaseStore(tx),
    idempotency: idempotencyStore(tx, { engine: database.engine, encryption: encryptions.keptReplies }),
  })
  const digests = createKeyDigests(keyring)
  const directory = createDirectory({ ids, clock, random, digests })
  const policies = createPolicyAdministration({
    ids,
    clock,
    checkExpression: createCelChecker(),
    hasJudge: parts.hasJudge,
  })
  const configurations = createConfigurationAdministration({
    ids,
    clock,
    patterns: re2Patterns,
    hasJudge: parts.hasJudge,
  })
  const backtests = createBacktestAdministration({ ids, clock })
  const change = createChange({ database, clock, changes, open })
  const reading = readOnly((sql, params) => database.read(sql, params))
  const reads = {
    ...open(reading),
    events: auditReads(
      readOnly((sql, params) => database.report(sql, params)),
      eventTable,
    ),
    archive: archiveStore(reading),
    ledger: ledgerReports(database, { clock, userDays: parts.auditDays }),
    traffic: trafficStore(database, clock),
  }
  /** For those who must see the last event: a replica for reports may lag. */
  const auditLog = auditReads(reading, eventTable)
  const auditedDirectory = createAuditedDirectory(directory)
  const mutate = createAuditedMutation({ change, ids, clock })
  const organizations = createOrganizations<Pick<ReturnType<typeof open>, 'directory' | 'grants'>>({
    directory,
    startingCredits: credits.starting,
    grantStartingCredits: ({ grants }, organizationId) =>
      grantStartingCredits(grants, { organizationId, credits: credits.starting }),
  })
  const secretRotation = createSecretRotation({
    keyring,
    files: parts.secretFiles,
    store: rotationStore({ database, clock, keyring, encryptions, audit, events: auditLog }),
  })
  const verifyAuditLog = createAuditVerifier({ ...parts, audit, textsKeys: encryptions.textsKeys, reads: auditLog })
  const exports = createSinkAdministration({
    kinds: sinkKinds,
    findAddressProblem: createSinkAddressRules(parts.exports).findProblem,
    ids,
    clock,
  })
  return {
    reads,
    policies,
    backtests,
    directory: auditedDirectory,
    members: createMembers({ ids, clock }),
    keyChanges: createKeyChanges({ clock, random, digests }),
    keyDefaults,
    mutate,
    ids,
    organizations,
    balances: ledgerStore(database, { ids, clock }),
    creditUsd: credits.credit_usd,
    administratorsManageCredits: credits.administrators_manage,
    secretRotation,
    auditLog,
    verifyAuditLog,
    ledgerVerifier: openLedgerVerifier({ ...parts, balances: ledgerBalances(database, encryptions.ledgerBalances) }),
    verifications: createVerificationAdministration({ ids, clock }),
    audit,
    encryption: encryptions.exportSecrets,
    exports,
    sinkKinds,
    configurations,
  }
}

export type Administration = ReturnType<typeof createAdministration>

/** Lets the stores read outside of a transaction. */
const readOnly = (query: Transaction['query']): Transaction => ({
  query,
  run: () => Promise.reject(new Error('writing needs a transaction')),
})
