import { engines } from '../support/engines.ts'
import { gatewayContract } from './gateway.contract.ts'
import { idempotencyContract } from './idempotency.contract.ts'
import { policyContract } from './policies.contract.ts'

for (const engine of engines) {
  policyContract(engine)
  idempotencyContract(engine)
  gatewayContract(engine)
}
