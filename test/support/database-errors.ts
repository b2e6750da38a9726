import assert from 'node:assert/strict'
import { DatabaseError } from '../../src/adapters/stores/sql/database.ts'

/** For `assert.rejects`: a `DatabaseError` with this reason. */
export const hasReason =
  (reason: DatabaseError['reason']) =>
  (error: unknown): boolean => {
    assert.ok(error instanceof DatabaseError, String(error))
    assert.equal(error.reason, reason, error.message)
    return true
  }
