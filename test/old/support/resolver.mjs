// Loaded into a process with --import: names that end in `.test` are this machine, unless the file that RESOLVER_FILE names
// has a line with the name and the code of an error.
import dns from 'node:dns';
import { readFileSync } from 'node:fs';
import process from 'node:process';

const { lookup } = dns;

dns.lookup = (name, options, callback) => {
  if (!name.endsWith('.test')) return lookup(name, options, callback);
  const lines = readFileSync(process.env.RESOLVER_FILE, 'utf8').split('\n');
  const [, code] = lines.map((line) => line.split(' ')).find(([faulty]) => faulty === name) ?? [];
  if (code !== undefined)
    return callback(Object.assign(new Error(`getaddrinfo ${code} ${name}`), { code, hostname: name }));
  const answer = options.all ? [[{ address: '127.0.0.1', family: 4 }]] : ['127.0.0.1', 4];
  return callback(null, ...answer);
};
