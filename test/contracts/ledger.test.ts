import { engines } from '../support/engines.ts'
import { ledgerContract } from './ledger.contract.ts'

for (const engine of engines) ledgerContract(engine)
