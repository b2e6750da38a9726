-- A write that changes nothing. A server that only answers reads, such as a replica, rejects it. KEYS 1 any
return redis.call('DEL', KEYS[1])
