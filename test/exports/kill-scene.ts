import { systemRandom } from '../../src/base/random.ts'
import { createEncryption } from '../../src/base/encryption.ts'

/** Values that the killed process and the test share. */
export const killSecret = 'a secret for the test that kills'
export const killEncryption = createEncryption(new Uint8Array(32).fill(9), systemRandom)
export const webhookSecret = 'a-secret-of-the-webhook-0123'
