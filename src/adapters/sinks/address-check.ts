import type { FindSinkAddressProblem } from '../../domain/audit/export/sink.ts'
import { createAddressCheck, type AddressCheckParts } from '../network/address-check.ts'
import { createAddressProblems, defaultPorts, type AddressProblem } from '../network/address-guard.ts'

type SinkAddressParts = Pick<AddressCheckParts, 'resolve' | 'timeoutMs'> & { readonly allowNetworks: readonly string[] }

/** Checks the address of a sink when it is configured. */
export const createSinkAddressCheck = ({ allowNetworks, ...parts }: SinkAddressParts): FindSinkAddressProblem =>
  createAddressCheck({ ...parts, problemOf: createAddressProblems({ allowNetworks }), messages })

const ports = defaultPorts.join(', ').replace(/, (\d+)$/, ' or $1')
const exception = 'networks that the operator lists in exports.allow_addresses'

const messages: Readonly<Record<AddressProblem, string>> = {
  address: `does not lead to a public address. Use a public one, or ask the operator to add its network to exports.allow_addresses`,
  scheme: `must begin with https://. Plain http is allowed only to ${exception}`,
  port: `must have port ${ports}. Other ports are allowed only to ${exception}`,
}
