import { engines } from '../support/engines.ts'
import { policyExceptionContract } from './policy-exceptions.contract.ts'

for (const engine of engines) policyExceptionContract(engine)
