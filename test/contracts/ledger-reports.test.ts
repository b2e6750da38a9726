import { engines } from '../support/engines.ts'
import { ledgerReportsContract } from './ledger-reports.contract.ts'
import { nodesContract } from './nodes.contract.ts'

for (const engine of engines) {
  ledgerReportsContract(engine)
  nodesContract(engine)
}
