import { engines } from '../support/engines.ts'
import { credentialContract } from './credentials.contract.ts'
import { gatewayContract } from './gateway.contract.ts'
import { listFiltersContract } from './list-filters.contract.ts'
import { idempotencyContract } from './idempotency.contract.ts'
import { organizationModelContract } from './organization-models.contract.ts'
import { ownershipContract } from './ownership.contract.ts'
import { policyContract } from './policies.contract.ts'

for (const engine of engines) {
  credentialContract(engine)
  policyContract(engine)
  listFiltersContract(engine)
  idempotencyContract(engine)
  gatewayContract(engine)
  ownershipContract(engine)
  organizationModelContract(engine)
}
