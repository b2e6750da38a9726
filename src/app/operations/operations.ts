import { createAuditOperations, type AuditOperationParts, type AuditOperations } from './audit.ts'
import { createBacktestOperations, type BacktestOperationParts, type BacktestOperations } from './backtests.ts'
import { createCreditOperations, type CreditOperationParts, type CreditOperations } from './credits.ts'
import { createGatewayOperations, type GatewayOperationParts, type GatewayOperations } from './gateway.ts'
import { createKeyOperations, type KeyOperationParts, type KeyOperations } from './keys.ts'
import { createOrganizationOf } from './organization-of.ts'
import { createPolicyOperations, type PolicyOperationParts, type PolicyOperations } from './policies.ts'
import { createSecretOperations, type SecretOperationParts, type SecretOperations } from './secret.ts'
import { createRegistryOperations, type RegistryOperationParts, type RegistryOperations } from './registry.ts'

export type { SetupAnswer } from './registry.ts'

/**
 * What the command line can do to a house, by name: run in the same process, or carried to a running server
 * through its control socket. Inputs and answers are plain JSON.
 */
export type Operations = RegistryOperations &
  KeyOperations &
  PolicyOperations &
  BacktestOperations &
  GatewayOperations &
  CreditOperations &
  AuditOperations &
  SecretOperations

export type OperationParts = Omit<
  RegistryOperationParts &
    KeyOperationParts &
    PolicyOperationParts &
    BacktestOperationParts &
    GatewayOperationParts &
    CreditOperationParts &
    AuditOperationParts &
    SecretOperationParts,
  'organizationOf'
>

export function createOperations(own: OperationParts): Operations {
  const parts = { ...own, organizationOf: createOrganizationOf(own.reads.registry) }
  return {
    ...createRegistryOperations(parts),
    ...createKeyOperations(parts),
    ...createPolicyOperations(parts),
    ...createBacktestOperations(parts),
    ...createGatewayOperations(parts),
    ...createCreditOperations(parts),
    ...createAuditOperations(parts),
    ...createSecretOperations(parts),
  }
}
