def padding_counts(shape, block):
    """Return (logical, padded, programs): elements of the matrix, elements of all blocks, number of blocks."""
    ### BEGIN SOLUTION
    (rows, columns), (block_rows, block_columns) = shape, block
    programs = -(-rows // block_rows) * -(-columns // block_columns)
    return rows * columns, programs * block_rows * block_columns, programs
    ### END SOLUTION


for shape in ((5, 11), (33, 129)):
    counts = []
    for tile in ((2, 4), (8, 128), (16, 256)):
        logical, stored, programs = padding_counts(shape, tile)
        assert logical == shape[0] * shape[1]
        counts.append((*tile, programs, stored))
    print("Shape, block/program/padded counts:", shape, counts)
