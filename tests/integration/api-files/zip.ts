import { crc32, deflateRawSync } from 'node:zlib';

interface ZipOptions {
  /** What the archive says of each member's length, where that is not the truth. */
  claimedSize?: number;
}

/** A ZIP archive of the given members, made here so that tests can also make archives that lie. */
export function zipOf(members: Record<string, string | Buffer>, { claimedSize }: ZipOptions = {}): Buffer {
  const local: Buffer[] = [];
  const central: Buffer[] = [];
  let offset = 0;
  for (const [name, content] of Object.entries(members)) {
    const bytes = Buffer.from(content);
    const packed = deflateRawSync(bytes);
    const header = Buffer.alloc(26);
    header.writeUInt16LE(20, 0);
    header.writeUInt16LE(0x0800, 2);
    header.writeUInt16LE(8, 4);
    header.writeUInt32LE(crc32(bytes), 10);
    header.writeUInt32LE(packed.length, 14);
    header.writeUInt32LE(claimedSize ?? bytes.length, 18);
    header.writeUInt16LE(Buffer.byteLength(name), 22);
    const start = Buffer.concat([Buffer.from('PK\x03\x04'), header, Buffer.from(name), packed]);
    const entry = Buffer.concat([
      Buffer.from('PK\x01\x02'),
      Buffer.from([20, 0]),
      header,
      Buffer.alloc(14),
      Buffer.from(name),
    ]);
    entry.writeUInt32LE(offset, 42);
    local.push(start);
    central.push(entry);
    offset += start.length;
  }
  const directory = Buffer.concat(central);
  const end = Buffer.alloc(22);
  end.write('PK\x05\x06', 'latin1');
  end.writeUInt16LE(central.length, 8);
  end.writeUInt16LE(central.length, 10);
  end.writeUInt32LE(directory.length, 12);
  end.writeUInt32LE(offset, 16);
  return Buffer.concat([...local, directory, end]);
}
