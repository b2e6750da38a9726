// Loaded into every test process. The runner holds the other end of its standard input and never writes:
// when the input ends, the runner is gone, and a test that goes on would report to nobody.
import { Socket } from 'node:net'

if (process.stdin instanceof Socket) {
  process.stdin.on('end', () => process.exit(1))
  process.stdin.resume()
  process.stdin.unref() // a test process that is done need not wait for it
}
